#pragma once

#include <cstdint>
#include <utility>

#include "record/call_meaning.h"
#include "record/events.h"

namespace baton::record {

// A stream of a record: its handle, and its thread where it is the default stream of one.
using StreamKey = std::pair<std::uint64_t, std::uint32_t>;

inline constexpr std::uint64_t kLegacyStream = 1, kPerThreadStream = 2;

inline StreamKey stream_of(std::uint64_t handle, const RecordedEvent& event) {
  if (handle == 0) handle = is_per_thread(event.function) ? kPerThreadStream : kLegacyStream;
  return {handle, handle == kPerThreadStream ? event.thread : 0};
}

}  // namespace baton::record
