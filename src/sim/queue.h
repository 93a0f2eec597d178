#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/command.h"
#include "sim/engine/findings.h"

namespace baton::sim {

// One mutex guards the commands of all devices, because edges lead from one device to another.
// What holds it never blocks and never executes work.
struct Scheduler {
  static Scheduler& instance();  // never destroyed

  std::mutex mutex;
  std::condition_variable done;  // some command is done, or some queue failed
};

// Everything submitted to one context, and the thread that executes it.
//
// Order. A command may start once all that it comes after are done. Of those that may, the first by
// priority and then by order of submission starts, and while grids run nothing new starts: so the
// order does not depend on how fast the host submits. Only when the running grids have taken
// kPatience slices without one of them ending, as when they wait for each other, does whatever is
// ready join them; copies and host functions then run between two slices.
//
// Errors. A failing command poisons the queue: all that is outstanding is cancelled, and `error`
// gives the code from then on. Thread-safe; methods that take a lock want the scheduler's.
class DeviceQueue {
 public:
  using Lock = std::unique_lock<std::mutex>;

  DeviceQueue(Engine& engine, FindingLog& findings);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // Submits work that comes after `after`; commands that are null or done are no hindrance. Returns
  // the command; one that is already done where the queue has failed or was closed.
  CommandPtr submit(const Lock& lock, Work work, int priority, std::span<const CommandPtr> after);

  // CUDA_SUCCESS, or what poisoned the queue.
  CUresult error(const Lock& lock) const;
  CUresult error() const;

  // Blocks until the command is done.
  static void wait(Lock& lock, const CommandPtr& command);
  // Blocks until everything submitted before the call is done.
  void drain();

  // Ends what runs with CUDA_ERROR_LAUNCH_TIMEOUT and says where the warps stand. Without effect
  // where nothing is outstanding. Returns once the grids ended, unless a host function keeps the
  // thread, which cannot be interrupted.
  std::vector<std::string> stop();

  // Cancels everything and ends the thread; waits for that unless a host function keeps it.
  void close();

  driver::Counters counters() const;

 private:
  struct Running {
    CommandPtr command;
    std::unique_ptr<Grid> grid;
  };
  using Key = std::pair<int, std::uint64_t>;  // priority, sequence

  void run();
  CommandPtr take_startable(const Lock& lock);
  void start(Lock& lock, CommandPtr command);
  void advance(Lock& lock);
  void complete(const Lock& lock, const CommandPtr& command);
  void make_ready(const Lock& lock, const CommandPtr& command);
  void fail(Lock& lock, CUresult result);
  void halt(Lock& lock);

  Engine& engine_;
  FindingLog& findings_;

  std::condition_variable work_;  // wakes the thread
  std::map<std::uint64_t, CommandPtr> unfinished_;
  std::map<Key, CommandPtr> ready_;
  std::uint64_t submitted_ = 0;
  CUresult error_ = CUDA_SUCCESS;
  driver::Counters counters_;  // of the grids that ended
  bool stop_requested_ = false;
  bool closing_ = false;
  bool in_host_function_ = false;
  std::vector<std::string> standing_;  // what the last stop found

  // The thread's own.
  std::vector<Running> running_;
  unsigned slices_ = 0;  // since a grid ended or the first one started
  std::thread thread_;
};

// Whether the calling thread executes a host function for a stream, where no driver call is
// permitted.
bool inside_host_function();

}  // namespace baton::sim
