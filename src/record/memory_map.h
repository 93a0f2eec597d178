#pragma once

// The memory that a process had at a moment of its record, and what the parameters of a launch are
// in it.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pdl/footprint/address_binder.h"
#include "record/events.h"

namespace baton::record {

class MemoryMap {
 public:
  // Follows a call: an allocation, a free, a mapping; and a tensor map. Others change nothing.
  void follow(const RecordedEvent& event);

  // "allocation 3 (4096 bytes)", "the variable table".
  const std::string& name(overlap::MemoryId id) const { return memories_[id].name; }
  bool is_constant(overlap::MemoryId id) const { return memories_[id].constant; }

  // The number of a variable of a module, new where it has none yet.
  overlap::MemoryId variable(std::uint64_t module, std::string_view name, bool constant);

  // A parameter of a kernel by its bytes. 128 of them that the driver made are a tensor map. An
  // address in an allocation is one, whatever its type says. What may be an address of memory that
  // no event tells of may be any. So may a tensor map: it may be any bytes but zeros.
  overlap::GivenArgument argument(std::string_view bytes, bool is_pointer) const;

 private:
  struct Range {
    std::uint64_t end = 0;
    overlap::MemoryId id = 0;
    bool shared = false;  // the same memory has another address too
  };
  struct Memory {
    std::string name;
    bool constant = false;
  };

  // What a tensor map was made of.
  struct MappedTensor {
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;                     // 0: not known
    std::optional<overlap::MemoryId> memory_id;  // where the address lay then
  };
  void note_map(const RecordedEvent& event);
  // The tensor of the map that such bytes begin with; null: they are none that the driver made.
  const MappedTensor* mapped_tensor(std::string_view bytes) const;
  // The allocation that all of the tensor lies in. Null: it was freed, or the record does not tell.
  const std::pair<const std::uint64_t, Range>* find(const MappedTensor& tensor) const;
  const std::pair<const std::uint64_t, Range>* find(std::uint64_t address) const;
  bool may_be_address(std::uint64_t word) const;
  void allocate(std::uint64_t address, std::uint64_t bytes);
  void map(std::uint64_t address, std::uint64_t handle);

  std::map<std::uint64_t, Range> ranges_;  // by their beginnings
  std::vector<Memory> memories_;
  std::map<std::pair<std::uint64_t, std::string>, overlap::MemoryId> variables_;
  std::multimap<std::uint64_t, std::uint64_t> mapped_;            // address by handle
  std::map<std::string, MappedTensor, std::less<>> tensor_maps_;  // by their bytes
  std::uint64_t allocations_ = 0;
  std::uint64_t least_ = UINT64_MAX, most_ = 0;  // of all addresses so far
};

}  // namespace baton::record
