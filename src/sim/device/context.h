#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "sim/device/heap.h"
#include "sim/device/library.h"
#include "sim/device/profile.h"
#include "sim/graph/graph.h"
#include "sim/queue/event.h"
#include "sim/queue/queue.h"
#include "sim/queue/stream.h"

namespace baton::sim {

struct LaunchRequest;

// The primary context of a device while it lives: memory, engine, queue, streams and what libraries
// placed here. Streams, events and functions share its ownership; `close` cuts those ties.
// Thread-safe.
class Context : public std::enable_shared_from_this<Context> {
 public:
  Context(int ordinal, const Profile& profile);

  int ordinal() const { return ordinal_; }
  const Profile& profile() const { return profile_; }
  const std::shared_ptr<DeviceHeap>& heap() const { return heap_; }
  DeviceQueue& queue() { return queue_; }
  CUresult error() const { return queue_.error(); }

  // The default streams: the one that all threads share, and the calling thread's own.
  std::shared_ptr<Stream> legacy_stream();
  std::shared_ptr<Stream> thread_stream();
  std::shared_ptr<Stream> make_stream(Stream::Kind kind, int priority);
  // What is in the stream goes on, and is ordered as before. Returns the context's error.
  CUresult destroy(Stream& stream);
  // The calling thread ends.
  void destroy_thread_stream();

  // Submits work in the order of the stream, after `after` too. Throws Refusal with the context's
  // error where it has one. Where the stream is being captured, this and what follows become part
  // of the capture's graph, and no command results.
  CommandPtr submit(Stream& stream, Work work, std::span<const Dependency> after = {});
  // The node, where it was captured.
  std::shared_ptr<GraphNode> launch(Stream& stream, KernelWork work, const LaunchRequest& request);
  void launch(Stream& stream, GraphExec& exec);
  void record(Event& event, Stream& stream);
  // `external`: the event stays outside of a capture, which waits for it when its graph runs.
  void wait_event(const std::shared_ptr<Stream>& stream, const std::shared_ptr<Event>& event,
                  bool external);
  bool is_idle(Stream& stream);
  // Waits for what the stream holds now, and for what it is ordered after.
  void synchronize(Stream& stream);

  // The library's module on this device, placed at the first call.
  std::shared_ptr<LoadedModule> place(const Library& library);
  // The function of a kernel here, made at the first call.
  std::shared_ptr<Function> function(const std::shared_ptr<Kernel>& kernel);
  // Forgets a library once nothing of it runs.
  void unload(const Library& library);

  // Says on standard error what was found and never taken.
  void tell_unread();

  // From now on accesses of global memory are checked (hazards.h).
  void expect_overlap();

  // Stops the queue and lets go of all streams, functions and modules.
  void close();

 private:
  using Lock = DeviceQueue::Lock;

  CommandPtr submit(const Lock& lock, Stream& stream, Work work, std::span<const Dependency> after);
  CommandPtr submit_grid(const Lock& lock, Stream& stream, GridLaunch launch, bool is_dependent);
  void refuse_beside_capture(const Lock& lock, const Stream& stream);
  void record(const Lock& lock, Event& event, Stream& stream);
  void forbid_in_capture(const Lock& lock, const Stream& stream);
  void forget_destroyed(const Lock& lock);
  std::vector<Dependency> predecessors(const Lock& lock, const Stream& stream);

  const int ordinal_;
  const Profile& profile_;
  const std::shared_ptr<DeviceHeap> heap_;
  Engine engine_;
  DeviceQueue queue_;

  // Guarded by the scheduler's mutex.
  std::shared_ptr<Stream> legacy_;
  std::unordered_map<std::thread::id, std::shared_ptr<Stream>> thread_streams_;
  std::vector<std::shared_ptr<Stream>> blocking_;

  std::atomic<unsigned> streams_{0};  // other than the default ones

  std::mutex modules_mutex_;
  bool closed_ = false;
  std::unordered_map<const Library*, std::shared_ptr<LoadedModule>> modules_;
  std::unordered_map<const Kernel*, std::shared_ptr<Function>> functions_;
};

}  // namespace baton::sim
