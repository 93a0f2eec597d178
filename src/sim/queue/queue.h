#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sim/queue/command.h"
#include "sim/queue/grid_scheduler.h"
#include "sim/queue/session.h"
#include "sim/queue/turn.h"

namespace baton::sim {

class DeviceQueue;

// One mutex guards the commands of all devices, because edges lead from one device to another.
// What holds it never blocks and never executes work.
struct Scheduler {
  static Scheduler& instance();  // never destroyed

  std::mutex mutex;
  std::condition_variable done;  // some command is done, or some queue failed
  unsigned waiting = 0;          // threads of the host that wait for a command
  std::vector<DeviceQueue*> queues;
};

// Everything submitted to one context, and the thread that executes it.
//
// Order. A command may start once all that it comes after have got as far as it asks. Which of
// those that may starts, and which of the running grids goes on, is the schedule's matter
// (grid_scheduler.h). With kSerial the first by priority and then by order of submission starts,
// and while grids run nothing new starts: so the order does not depend on how fast the host
// submits. Only when the running grids have taken kPatience slices without one of them ending, as
// when they wait for each other, does whatever is ready join them; copies and host functions then
// run between two slices.
//
// With any other schedule the device executes only while some thread of the host waits for it or
// asks whether it is done, so that it does not matter either how fast the host submits. A host that
// does neither for kIdle, perhaps because it watches memory, is not kept waiting longer.
//
// A stream that waits for a value in memory does not hold up others. The thread looks at the value
// between two steps of other work, and every kValueDelay while there is none.
//
// Devices that access each other's memory take turns (turn.h).
//
// Errors. A failing command poisons the queue: all that is outstanding is cancelled, and `error`
// gives the code from then on. Thread-safe; methods that take a lock want the scheduler's.
class DeviceQueue {
 public:
  using Lock = std::unique_lock<std::mutex>;

  // `ordinal`: of the device.
  DeviceQueue(Engine& engine, int ordinal);
  ~DeviceQueue();
  DeviceQueue(const DeviceQueue&) = delete;
  DeviceQueue& operator=(const DeviceQueue&) = delete;

  // Submits work that comes after `after`; commands that are null or done are not a hindrance.
  // Returns the command; one that is already done where the queue has failed or was closed.
  CommandPtr submit(const Lock& lock, Work work, int priority, std::span<const Dependency> after);
  // The same after everything that was submitted so far. The host that learns that the command is
  // done learns the same of all that.
  CommandPtr submit_after_all(const Lock& lock, Work work);

  // CUDA_SUCCESS, or what poisoned the queue.
  CUresult error(const Lock& lock) const;
  CUresult error() const;

  // Blocks until the command is done.
  static void wait(Lock& lock, CommandPtr command);
  // Whether it is done (null is), for a host that goes on meanwhile. Where the device executes only
  // while the host asks, it goes on for a while first, but not past a host function.
  static bool poll(Lock& lock, CommandPtr command);
  // Blocks until everything submitted before the call is done.
  void drain();
  bool is_idle() const;
  // Whether the device executes what is submitted also while no caller waits or asks.
  bool executes_unasked() const;

  // Whose work it is that is submitted, and what is noted of it.
  Sessions& sessions() { return sessions_; }
  NotesPtr begin_session(const driver::Simulator::Options& options);
  void end_session(const NotesPtr& notes);
  driver::LaunchProgress progress(const Notes& notes) const;

  // Ends what runs with CUDA_ERROR_LAUNCH_TIMEOUT and tells what it was. Without effect where
  // nothing is outstanding. Returns once the grids ended, unless a host function keeps the thread,
  // which cannot be interrupted.
  driver::StoppedWork stop();

  // Ends the state that an error left. Memory stays as it is; what was submitted before and was
  // cancelled counts as done. Without effect on a queue that is healthy or was closed.
  void recover();

  // Cancels everything and ends the thread; waits for that unless a host function keeps it.
  void close();

 private:
  struct Running {
    CommandPtr command;
    std::unique_ptr<Grid> grid;
    bool waits = false;  // for grids before it, in griddepcontrol.wait
  };
  using Key = std::pair<int, std::uint64_t>;  // priority, sequence

  void run();
  // Where a command belongs that is not submitted by the host: to the notes and the priority of a
  // conditional's command, and inside of it.
  struct Origin {
    NotesPtr notes;
    Ordering::Inside inside;
  };
  // `edges` are those to what is done already.
  CommandPtr submit(const Lock& lock, Work work, int priority, std::span<const Dependency> after,
                    const std::optional<Origin>& origin, std::vector<Ordering::Edge> edges = {});
  std::vector<Dependency> unfinished(const Lock& lock) const;
  void take_turn(const Lock& lock, const CommandPtr& command, Turn turn);
  bool may_execute(const Lock& lock) const;
  CommandPtr submit_setting(const Lock& lock, const Schedule& schedule);
  CommandPtr take_startable(const Lock& lock);
  void look_at_values(Lock& lock);
  void start(Lock& lock, CommandPtr command);
  void advance(Lock& lock);
  void end_question();
  CUresult advance_one();
  bool is_stuck(const Lock& lock);
  bool peers_may_help(const Lock& lock) const;
  PeerTurn::Choose next_device();
  void report_stuck(Lock& lock);
  void depend(const Lock& lock, const CommandPtr& command, const Dependency& dependency,
              std::vector<Ordering::Edge>* edges);
  static void host_asks(const Lock& lock, Command& command);
  static void host_learns(const Lock& lock, Command& command);
  static void reach(const Lock& lock, const CommandPtr& command, Milestone milestone);
  static bool let_go(const Lock& lock, const Command::Dependent& dependent);
  bool finish_at_once(const Lock& lock, Command& command);
  void let_waiters_go(const Lock& lock);
  void make_ready(const Lock& lock, const CommandPtr& command);
  void fail(Lock& lock, CUresult result);
  driver::StoppedWork what_runs(Lock& lock);
  void halt(Lock& lock);

  Engine& engine_;
  const int ordinal_;
  Sessions sessions_;

  std::condition_variable work_;  // wakes the thread
  std::map<std::uint64_t, CommandPtr> unfinished_;
  std::map<Key, CommandPtr> ready_;
  std::uint64_t submitted_ = 0;
  std::set<Ordering::Number> leaves_;  // that nothing was submitted after yet
  CommandPtr setting_;                 // the last one; what is submitted comes after it
  Schedule schedule_;                  // of what is submitted now
  CUresult error_ = CUDA_SUCCESS;
  bool stop_requested_ = false;
  bool unasked_ = false;     // the host has neither waited nor asked for kIdle
  std::uint64_t asked_ = 0;  // turns that the host asked for and waits for
  bool closing_ = false;
  bool in_host_function_ = false;
  driver::StoppedWork stopped_;  // by the last stop

  // Only the thread changes it, under the lock. So the thread reads it without.
  std::vector<Running> running_;

  // The thread's own.
  std::vector<CommandPtr> value_waits_;  // that began and whose values have not come
  unsigned slices_ = 0;                  // since a grid ended or the first one started
  std::uint64_t age_ = 0;                // of what is noted of memory, in kAge submissions
  std::uint64_t fingerprint_ = 0;        // of the running grids when they had polled for long
  // Warp instructions since one did anything but poll. Other devices' threads read it.
  std::atomic<std::uint64_t> polled_{0};
  GridScheduler scheduler_{Schedule{}};
  std::thread thread_;
};

// Whether the calling thread executes a host function for a stream, where no driver call is
// permitted.
bool inside_host_function();

}  // namespace baton::sim
