#pragma once

#include <array>
#include <cstdint>

#include "sim/engine/isa/insn.h"
#include "sim/engine/judge/watch.h"

namespace baton::sim {

// As many bytes as one store writes, at most. Arrays are compared by a call, which takes longer.
struct SharedValue : std::array<std::uint64_t, 2> {
  friend bool operator==(const SharedValue& a, const SharedValue& b) {
    return a[0] == b[0] && a[1] == b[1];
  }
};
// What lanes of a warp, or a copy, touch of shared memory by one instruction.
struct SharedAccess {
  const Insn* insn = nullptr;
  std::uint32_t offset = 0;      // bytes, of the first lane
  std::uint32_t stride = 0;      // bytes from one place to the next
  std::uint32_t bytes = 0;       // of one place
  std::uint16_t places = 1;      // distinct ones
  std::uint8_t first_lane = 0;   // of the first place
  std::uint8_t lanes_apart = 1;  // from one place to the next
  SharedValue value = {};        // written to its one place, where `one_value`
  // Of patterns: all that stride, places and lanes_apart say. Where bit 0 is set, bit k is what
  // is touched 4 * k bytes behind the offset. 0: none.
  std::uint64_t shape = 0;
  std::uint32_t lanes = 0;  // that touch the one place, where the stride is 0
  AccessKind touch = AccessKind::kRead;
  std::uint8_t element = 0;  // bytes of each that a copy in bulk updates; 0: an access is one
  bool one_value : 1 = false;
  bool is_product : 1 = false;    // wgmma reads parts of it
  bool is_for_block : 1 = false;  // strong for the threads of the block alone, in a cluster

  bool operator==(const SharedAccess&) const = default;
  std::uint32_t element_bytes() const { return element != 0 ? element : bytes; }
};

}  // namespace baton::sim
