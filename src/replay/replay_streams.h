#pragma once

// The streams and events of a recorded process in a replay.

#include <cuda.h>

#include <cstdint>
#include <map>

#include "baton/device.h"
#include "record/stream_key.h"

namespace baton::replay {

// Handles whose creation is not in the record are made at their first use. Not thread-safe.
class ReplayStreams {
 public:
  explicit ReplayStreams(const Device& device) : device_(device) {}
  // All their work must be complete.
  ~ReplayStreams();
  ReplayStreams(const ReplayStreams&) = delete;
  ReplayStreams& operator=(const ReplayStreams&) = delete;

  void create(std::uint64_t handle, unsigned flags);
  void destroy(const record::StreamKey& key);
  CUstream stream(const record::StreamKey& key);

  void create_event(std::uint64_t handle, unsigned flags);
  void destroy_event(std::uint64_t handle);
  CUevent event(std::uint64_t handle);

 private:
  const driver::Driver& driver() const;

  const Device device_;
  std::map<record::StreamKey, CUstream> streams_;
  std::map<std::uint64_t, CUevent> events_;
};

}  // namespace baton::replay
