#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/binder.h"
#include "edges/peer_launch.h"
#include "load/footprints.h"
#include "pdl/footprint/address_binder.h"

namespace baton::edges {

// Bytes. Rows of a cache that may share one are not frozen.
inline constexpr std::uint64_t kCacheLine = 128;

// The memory that launches of a program may touch: buffers, variables of modules, and what ranks
// write for each other. Two pieces with different numbers do not overlap.
class JudgedMemory {
 public:
  struct Facts {
    std::string name;
    bool is_constant = false;                  // no launch writes it
    const ProgramBuffer* read_only = nullptr;  // a weight or an input; null: kernels may write it
    std::optional<overlap::MemoryId> counter = {};  // of a cache's frozen rows
    bool is_shared = false;                         // other devices write it
  };

  // The buffers and the footprints must outlive it.
  JudgedMemory(const bind::BufferTable& buffers, load::Footprints& footprints);

  const Facts& operator[](overlap::MemoryId id) const { return facts_[id]; }
  // Where the buffer begins.
  const MemoryPlace& start_of(std::uint32_t buffer) const { return starts_[buffer]; }
  // What an execution of a launch gives a parameter.
  overlap::GivenArgument given(const bind::LaunchExecution& execution, std::size_t index) const;
  // The same of any execution: what its numbers and offsets are is not known.
  overlap::GivenArgument possible(const bind::PlannedLaunch& launch, std::size_t index) const;
  // The variable of the kernel's module. `constant`: in constant memory.
  overlap::MemoryId variable(const std::string& kernel, std::string_view name, bool constant);
  // The memory that the ranks write for each other.
  overlap::MemoryId shared();

 private:
  void set_counters();
  // The number of a variable of the kernel's module: `fresh` where it has none yet.
  overlap::MemoryId variable_id(const std::string& kernel, const std::string& name,
                                overlap::MemoryId fresh);

  const bind::BufferTable& buffers_;
  load::Footprints& footprints_;
  std::vector<Facts> facts_;          // by MemoryId
  std::vector<MemoryPlace> starts_;   // by buffer
  std::vector<bool> has_neighbours_;  // by buffer, as GivenArgument has it
  // By module and name.
  std::map<std::pair<std::size_t, std::string>, overlap::MemoryId> variables_;
  std::optional<overlap::MemoryId> shared_;  // once it was asked for
};

}  // namespace baton::edges
