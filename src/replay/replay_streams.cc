#include "replay/replay_streams.h"

#include "driver/driver.h"
#include "runtime/context.h"
#include "runtime/release.h"

namespace baton::replay {

const driver::Driver& ReplayStreams::driver() const {
  return device_.driver();
}

ReplayStreams::~ReplayStreams() {
  release_in_context(device_, [this](const driver::Driver& driver) {
    for (const auto& [handle, event] : events_) BATON_RELEASE(driver, cuEventDestroy, event);
    for (const auto& [key, stream] : streams_) BATON_RELEASE(driver, cuStreamDestroy, stream);
  });
}

void ReplayStreams::create(std::uint64_t handle, unsigned flags) {
  const record::StreamKey key = {handle, 0};
  destroy(key);
  CUstream stream = nullptr;
  BATON_DRIVER_CALL(driver(), cuStreamCreateWithPriority, &stream, flags, 0);
  streams_[key] = stream;
}

void ReplayStreams::destroy(const record::StreamKey& key) {
  const auto found = streams_.find(key);
  if (found == streams_.end()) return;
  BATON_DRIVER_CALL_QUIETLY(driver(), cuStreamDestroy, found->second);
  streams_.erase(found);
}

CUstream ReplayStreams::stream(const record::StreamKey& key) {
  if (key.first == record::kLegacyStream) return CU_STREAM_LEGACY;
  if (const auto found = streams_.find(key); found != streams_.end()) return found->second;
  // The default stream of a thread is ordered with the one that all share; others are not known to
  // be.
  const bool is_threads = key.first == record::kPerThreadStream;
  CUstream stream = nullptr;
  BATON_DRIVER_CALL(driver(), cuStreamCreateWithPriority, &stream,
                    is_threads ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING, 0);
  streams_[key] = stream;
  return stream;
}

void ReplayStreams::create_event(std::uint64_t handle, unsigned flags) {
  destroy_event(handle);
  CUevent event = nullptr;
  BATON_DRIVER_CALL(driver(), cuEventCreate, &event,
                    flags & ~static_cast<unsigned>(CU_EVENT_INTERPROCESS));
  events_[handle] = event;
}

void ReplayStreams::destroy_event(std::uint64_t handle) {
  const auto found = events_.find(handle);
  if (found == events_.end()) return;
  BATON_DRIVER_CALL_QUIETLY(driver(), cuEventDestroy, found->second);
  events_.erase(found);
}

CUevent ReplayStreams::event(std::uint64_t handle) {
  if (!events_.contains(handle)) create_event(handle, CU_EVENT_DISABLE_TIMING);
  return events_[handle];
}

}  // namespace baton::replay
