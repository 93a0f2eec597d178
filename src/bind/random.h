#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "baton/dtype.h"

namespace baton::bind {

// The generator behind init = "random", "normal" and "uniform", as docs/program-file.md specifies
// it: element i depends on the seed, the buffer's name and i alone, so that any part can be made by
// itself.
class RandomSequence {
 public:
  RandomSequence(std::uint64_t seed, std::string_view buffer);

  // Writes elements first … first + count - 1 in their stored form.
  void generate(DType dtype, std::uint64_t first, std::size_t count, void* target) const;
  // The same, with mean 0 and a standard deviation, for a float dtype.
  void generate_normal(DType dtype, double deviation, std::uint64_t first, std::size_t count,
                       void* target) const;
  // The same, in [low, high) for a float dtype, and from `low` to `high` for an integer dtype,
  // which holds both.
  void generate_uniform(DType dtype, double low, double high, std::uint64_t first,
                        std::size_t count, void* target) const;

 private:
  std::uint64_t key_;
};

}  // namespace baton::bind
