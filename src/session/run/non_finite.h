#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/array.h"
#include "baton/report.h"
#include "bind/buffers.h"
#include "bind/plan.h"

namespace baton {

// Looks for the step that makes the first NaN or infinity of finite values. It compares the float
// buffers of a step before and after it. One thread at a time.
class NonFiniteSearch {
 public:
  // Downloads a buffer by its number.
  using Download = std::function<Array(std::size_t buffer)>;

  // `table` outlives it.
  NonFiniteSearch(const bind::BufferTable& table, Download download)
      : table_(table), download_(std::move(download)) {}

  // Reads all float buffers before the first step. Returns a warning for each one that is not
  // finite already: steps that use it make such values of it.
  std::vector<std::string> begin();

  // The step is done. Returns what it made: the buffer, the element, the value and the count. The
  // rest is left to the caller.
  std::optional<NonFiniteReport> look(const bind::PlannedStep& step);

 private:
  struct Seen {
    Array before;
    bool is_finite = true;  // the elements that the program wrote or that it started with
  };

  std::vector<std::uint32_t> buffers_of(const bind::PlannedStep& step) const;
  std::optional<NonFiniteReport> compare(std::uint32_t buffer, Array now);

  const bind::BufferTable& table_;
  const Download download_;
  std::vector<std::optional<Seen>> seen_;  // by buffer; of float buffers
};

}  // namespace baton
