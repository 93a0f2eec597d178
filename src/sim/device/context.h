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
#include "sim/engine/texture/texture.h"
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
  // What the handles of textures and surfaces stand for in its kernels.
  TextureTable& textures() { return *textures_; }
  DeviceQueue& queue() { return queue_; }
  CUresult error() const { return queue_.error(); }

  // The default streams: the one that all threads share, and the calling thread's own.
  std::shared_ptr<SimStream> legacy_stream();
  std::shared_ptr<SimStream> thread_stream();
  std::shared_ptr<SimStream> make_stream(SimStream::Kind kind, int priority,
                                         std::shared_ptr<const GreenContext> green = nullptr);
  // What is in the stream goes on, and is ordered as before. Returns the context's error.
  CUresult destroy(SimStream& stream);
  // The calling thread ends.
  void destroy_thread_stream();

  // Submits work in the order of the stream, after `after` too. Throws Refusal with the context's
  // error where it has one. Where the stream is being captured, this and what follows become part
  // of the capture's graph, and no command results.
  CommandPtr submit(SimStream& stream, Work work, std::span<const Dependency> after = {});
  // The node, where it was captured.
  std::shared_ptr<GraphNode> launch(SimStream& stream, KernelWork work,
                                    const LaunchRequest& request);
  void launch(SimStream& stream, GraphExec& exec);
  void record(SimEvent& event, SimStream& stream);
  // The same after the work of all streams.
  void record_all(SimEvent& event);
  // `external`: the event stays outside of a capture, which waits for it when its graph runs.
  void wait_event(const std::shared_ptr<SimStream>& stream, const std::shared_ptr<SimEvent>& event,
                  bool external);
  // Memory of the device that a caller allocated there in the order of the stream: what nothing
  // orders after this must not use it.
  void note_allocation(SimStream& stream, std::uint64_t address);
  bool is_idle(SimStream& stream);
  // Waits for what the stream holds now, and for what it is ordered after.
  void synchronize(SimStream& stream);

  // The library's module on this device, placed at the first call.
  std::shared_ptr<LoadedModule> place(const SimLibrary& library);
  // The function of a kernel here, made at the first call.
  std::shared_ptr<SimFunction> function(const std::shared_ptr<SimKernel>& kernel);
  // Forgets a library once nothing of it runs.
  void unload(const SimLibrary& library);

  // Of a call of the host's: what the calling thread's session, or work in none, found.
  void note_finding(driver::Finding finding);
  // Says on standard error what was found and never taken.
  void tell_unread();

  // From now on accesses of global memory are checked (hazards.h).
  void expect_overlap();

  // Stops the queue and lets go of all streams, functions and modules.
  void close();

 private:
  void tell_leaks();
  using Lock = DeviceQueue::Lock;

  CommandPtr submit(const Lock& lock, SimStream& stream, Work work,
                    std::span<const Dependency> after);
  CommandPtr submit_grid(const Lock& lock, SimStream& stream, GridLaunch launch, bool is_dependent);
  void refuse_beside_capture(const Lock& lock, const SimStream& stream);
  void record(const Lock& lock, SimEvent& event, SimStream& stream);
  void forbid_in_capture(const Lock& lock, const SimStream& stream);
  void forget_destroyed(const Lock& lock);
  std::vector<Dependency> predecessors(const Lock& lock, const SimStream& stream);

  const int ordinal_;
  const Profile& profile_;
  const std::shared_ptr<DeviceHeap> heap_;
  const std::shared_ptr<TextureTable> textures_;
  Engine engine_;
  DeviceQueue queue_;

  // Guarded by the scheduler's mutex.
  std::shared_ptr<SimStream> legacy_;
  std::unordered_map<std::thread::id, std::shared_ptr<SimStream>> thread_streams_;
  std::vector<std::shared_ptr<SimStream>> blocking_;

  std::atomic<unsigned> streams_{0};  // other than the default ones

  std::mutex modules_mutex_;
  bool closed_ = false;
  std::unordered_map<const SimLibrary*, std::shared_ptr<LoadedModule>> modules_;
  std::unordered_map<const SimKernel*, std::shared_ptr<SimFunction>> functions_;
};

}  // namespace baton::sim
