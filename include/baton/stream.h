#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "baton/device.h"
#include "baton/forward.h"
#include "baton/sm_part.h"

namespace baton {

// A queue of work on one device. Movable. The destructor lets the enqueued work finish. Several
// threads may use a Stream, as a CUstream; the callers decide the order in which they enqueue.
class BATON_API Stream {
 public:
  // Creates a non-blocking stream, which does not synchronise with the legacy default stream. A
  // lower number is a higher priority; the device clamps it to its range.
  explicit Stream(const Device& device, int priority = 0);
  // A stream whose kernels run on the part's SMs alone. Copies and fills may be anywhere.
  explicit Stream(const SmPart& part, int priority = 0);
  // Uses a foreign stream without owning it. The device is the stream's own. The default streams
  // (null, legacy, per-thread) name no device; for these the first argument decides. Throws
  // kUnsupported for a stream of another context than its device's primary one. The stream of a
  // green context over that one keeps its part of the SMs.
  static Stream adopt(const Device& device, NativeStream stream);

  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  ~Stream();

  const Device& device() const { return device_; }
  NativeStream native() const { return stream_; }
  // The context of the stream's part of the SMs; null for all of the device.
  NativeContext part() const { return part_; }
  // The SMs of that part; 0 for all of the device.
  std::uint32_t part_sms() const { return part_sms_; }

  // Waits until all work enqueued so far has completed. Throws the error of that work.
  void synchronize() const;
  // Returns true if all work enqueued so far has completed. Throws the error of that work.
  bool done() const;
  // Returns true while a graph is being captured from this stream.
  bool is_capturing() const;
  // Makes later work of this stream start after the event was reached.
  void wait(const Event& event) const;

 private:
  friend class Event;
  Stream(Device device, NativeStream stream, bool owned)
      : device_(std::move(device)), stream_(stream), owned_(owned) {}
  void release() noexcept;

  Device device_;
  NativeStream stream_ = nullptr;
  bool owned_ = true;
  std::uint32_t part_sms_ = 0;
  NativeContext part_ = nullptr;
  std::shared_ptr<const GreenPart> green_;  // null where the part is someone else's
};

// A point in a stream. Movable; may be recorded again. Several threads may use it, as a Stream.
class BATON_API Event {
 public:
  // Without timing, an event is cheaper to record but has no elapsed time.
  explicit Event(const Device& device, bool timing = true);
  // An event that this stream records, and others of its device and part of the SMs.
  explicit Event(const Stream& stream, bool timing = true);
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

// Returns the seconds from one event to a later one. Both must have completed and have timing. The
// resolution is the driver's (about 0.5 µs on a GPU).
BATON_API double elapsed_seconds(const Event& start, const Event& end);

}  // namespace baton
