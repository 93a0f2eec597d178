#pragma once

#include <utility>

#include "baton/device.h"

namespace baton {

class Event;

// A queue of work on one device. Movable; destroying it lets the work in it finish. A Stream may be
// used by several threads, as a CUstream may; the order in which they enqueue is theirs to decide.
class BATON_API Stream {
 public:
  // A non-blocking stream (it does not synchronise with the legacy default stream). A lower number
  // is a higher priority; the device clamps it to its range.
  explicit Stream(const Device& device, int priority = 0);
  // Takes a foreign stream without owning it; the device is the stream's own. For the default
  // streams (null, legacy, per-thread), which name no device, the first argument decides. Throws
  // kUnsupported for a stream of another context than its device's primary one.
  static Stream adopt(const Device& device, NativeStream stream);

  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  const Device& device() const { return device_; }
  NativeStream native() const { return stream_; }

  // Waits until all work enqueued so far is done. Throws what it failed with.
  void synchronize() const;
  // True where all work enqueued so far is done. Throws what it failed with.
  bool done() const;
  // Work enqueued from here on starts after the event was reached.
  void wait(const Event& event) const;

 private:
  Stream(Device device, NativeStream stream, bool owned)
      : device_(std::move(device)), stream_(stream), owned_(owned) {}
  void release() noexcept;

  Device device_;
  NativeStream stream_ = nullptr;
  bool owned_ = true;
};

// A point in a stream. Movable; may be recorded again. Same thread rules as Stream.
class BATON_API Event {
 public:
  // Without timing an event is cheaper to record and cannot be asked for elapsed time.
  explicit Event(const Device& device, bool timing = true);
  Event(Event&&) noexcept;
  Event& operator=(Event&&) noexcept;
  ~Event();

  const Device& device() const { return device_; }
  NativeEvent native() const { return event_; }
  bool timing() const { return timing_; }

  void record(const Stream& stream);
  void synchronize() const;
  bool done() const;

 private:
  void release() noexcept;

  Device device_;
  NativeEvent event_ = nullptr;
  bool timing_ = true;
};

// Seconds from one event to a later one; both must have completed and keep time. The resolution is
// the driver's (about 0.5 µs on a GPU).
BATON_API double elapsed_seconds(const Event& start, const Event& end);

}  // namespace baton
