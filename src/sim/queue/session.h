#pragma once

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "driver/simulator.h"
#include "sim/engine/report/findings.h"
#include "sim/engine/report/trace.h"

namespace baton::sim {

// What the device notes of the work of one session (driver::Simulator::begin), or of all the work
// that is in none. Each command has the notes of whoever submitted it. `findings` and `trace` are
// thread-safe; the rest is guarded by the scheduler's mutex.
struct Notes {
  Notes(const driver::Simulator::Options& asked, std::shared_ptr<FirstFault> fault)
      : options(asked),
        findings(std::move(fault)),
        trace(asked.trace ? std::make_shared<Trace>() : nullptr) {}

  driver::Simulator::Options options;
  FindingLog findings;
  std::shared_ptr<Trace> trace;  // null: not asked for
  // The host has waited for the work, or asked whether it is done, since it last submitted any.
  bool awaited = false;
  std::uint64_t ended = 0;  // launches
};

using NotesPtr = std::shared_ptr<Notes>;

// The sessions of one context, of all threads. Guarded by the scheduler's mutex.
class Sessions {
 public:
  Sessions();
  // Of the calling thread. Throws Error(kInvalidInput) where another session has another schedule.
  NotesPtr begin(const driver::Simulator::Options& options);
  // What was noted and not taken, and what is noted later, is the context's from here on.
  void end(const NotesPtr& notes);

  // The notes of the calling thread's innermost session, or null.
  NotesPtr of_caller() const;
  // The notes of work in no session.
  const NotesPtr& common() const { return common_; }
  // The notes of launches in no session whose findings do not count (Settings::launches).
  const NotesPtr& uncounted() const { return uncounted_; }
  // What the sessions ask for, or the default.
  Schedule schedule() const;
  // What poisoned the context.
  FirstFault& fault() { return *fault_; }

 private:
  struct Open {
    std::thread::id thread;
    NotesPtr notes;
  };

  const std::shared_ptr<FirstFault> fault_ = std::make_shared<FirstFault>();
  static NotesPtr common_notes(std::shared_ptr<FirstFault> fault);
  const NotesPtr common_ = common_notes(fault_);
  const NotesPtr uncounted_;
  std::vector<Open> open_;  // oldest first
};

}  // namespace baton::sim
