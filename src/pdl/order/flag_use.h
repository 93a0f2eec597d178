#pragma once

// Instructions that poll flags in shared memory, that may write them, and that order them (PTX ISA,
// "Memory Consistency Model": release and acquire patterns).

#include <cstdint>
#include <optional>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/value/follower.h"

namespace baton::overlap {

// Whether the operation is a load that may poll a flag: a strong one of one integer, from shared
// memory or a generic address.
bool may_poll(const Operation& operation);
bool acquires(const Operation& operation);

struct SharedWrite {
  enum class Kind : std::uint8_t {
    kStore,     // one element by `st`
    kUpdate,    // by `atom` or `red`
    kMbarrier,  // what an mbarrier is made of
    kUnknown,   // at an address that is not followed
  };
  Kind kind = Kind::kUnknown;
  std::uint64_t bytes = 0;
  bool is_strong = false;  // as a store or update of the block's own memory
  bool releases = false;   // without a fence before it
};

// What the operation may write in shared memory, if anything.
std::optional<SharedWrite> shared_write(const Operation& operation);

// Where a poll reads, or where a write that is not kUnknown writes.
Value shared_place_of(const Operation& operation, const Follower& follower);

// Whether the operation is a fence that orders accesses of the thread with those of its block, for
// each thread that comes there.
bool is_block_fence(const Operation& operation);

// By operation: whether a thread may come there from something that other threads are ordered
// before, with no fence between.
std::vector<bool> find_unfenced(const Code& code);

// Whether a thread that has read the flag comes to a fence before anything that others may see, or
// that depends on what others did.
bool is_fenced_behind(const Code& code, std::uint32_t poll);

}  // namespace baton::overlap
