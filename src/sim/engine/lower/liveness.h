#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace baton::sim {

// Where registers live in a frame. Those that are never alive at the same time share a place, so
// that a warp's frame stays small enough for the processor's cache.

struct LiveSlot {
  std::uint8_t width = 0;    // 1, 4, 8 or 16 bytes a lane; 0: no register
  std::uint32_t offset = 0;  // the result
};

// One instruction: what it reads and writes, and what may follow.
struct LiveStep {
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
  std::vector<std::uint32_t> successors;
  bool partial = false;  // writes only some lanes, so that the old value lives on
};

struct LiveResult {
  std::uint32_t end = 0;                                         // of the frame
  std::vector<std::pair<std::uint32_t, std::uint32_t>> cleared;  // places read before any write
  std::uint32_t live_words = 0;  // 32-bit registers alive at once, at most
};

// Places all slots from offset `begin` on.
LiveResult place_live(std::vector<LiveSlot>& slots, const std::vector<LiveStep>& steps,
                      std::uint32_t begin);

}  // namespace baton::sim
