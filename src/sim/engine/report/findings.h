#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/simulator.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

class Debugger;
struct GridState;

// The first fault among the findings of several logs. Thread-safe.
class FirstFault {
 public:
  void note(const driver::Finding& finding);
  // Whoever gets it tells it.
  std::optional<driver::Finding> get();
  bool was_told() const;
  // The context recovers.
  void clear();

 private:
  mutable std::mutex mutex_;
  std::optional<driver::Finding> first_;
  bool told_ = false;
};

// Findings in the order first seen, equal ones (same kind, kernel and place) merged. Thread-safe.
class FindingLog {
 public:
  explicit FindingLog(std::shared_ptr<FirstFault> fault = nullptr) : fault_(std::move(fault)) {}

  // Where a finding stands; good until the findings are taken.
  struct Place {
    const FindingLog* log = nullptr;
    std::uint64_t taken = 0;  // how often they had been taken
    std::size_t index = 0;
  };
  Place add(driver::Finding finding);
  // From now on shows each finding that is new to the log, and to what was taken from it, to
  // `show`; null: they are not shown.
  using Show = void (*)(const driver::Finding& finding);
  void show_new(Show show);
  // The same to a debugger; null: to none.
  void tell(std::shared_ptr<Debugger> debugger);
  // Counts the finding `times` more; false where it was taken meanwhile.
  bool count_again(const Place& place, std::uint64_t times);
  std::vector<driver::Finding> list() const;
  std::vector<driver::Finding> take();
  // Gives what it holds, and what comes later, to another log, which passes nothing on.
  void pass_on_to(std::shared_ptr<FindingLog> heir);

 private:
  using Key = std::tuple<driver::FindingKind, std::string, std::string>;
  // Null, or the log that takes over, which is called without the lock.
  FindingLog* heir(std::unique_lock<std::mutex>& lock) const;

  const std::shared_ptr<FirstFault> fault_;  // null: not asked for
  mutable std::mutex mutex_;
  std::shared_ptr<FindingLog> heir_;
  Show show_ = nullptr;
  std::shared_ptr<Debugger> debugger_;
  std::vector<driver::Finding> findings_;
  std::map<Key, std::size_t> index_;
  std::uint64_t taken_ = 0;
};

// What of a grid is in the log already, by what makes two findings equal, so that a message is
// composed once however often it holds. Thread-safe.
class LoggedFindings {
 public:
  using Key = std::array<std::uint64_t, 4>;

  // Counts the finding `times` more, or logs what `compose` returns, with that count.
  template <class Compose>
  void add(FindingLog& log, const Key& key, std::uint64_t times, Compose compose) {
    std::lock_guard lock(mutex_);
    const auto [at, is_new] = places_.try_emplace(key);
    if (!is_new && log.count_again(at->second, times)) return;
    driver::Finding finding = compose();
    finding.count = times;
    at->second = log.add(std::move(finding));
  }

 private:
  std::mutex mutex_;
  std::map<Key, FindingLog::Place> places_;
};

// Where an instruction of the grid's kernel stands in the source; empty where that is not known.
std::string where_of(const GridState& grid, const Insn* insn);
// Of the thread of that number in its block.
std::array<std::uint32_t, 3> thread_index(const GridState& grid, std::uint32_t number);
// The kernel, block, thread and place of a finding about the thread in `lane` at instruction `i`.
driver::Finding finding_at(Exec* x, const Insn* i, int lane, driver::FindingKind kind);
// Records a finding about the thread in `lane` at instruction `i`.
void report(Exec* x, const Insn* i, int lane, driver::FindingKind kind, const std::string& message);
// The same for an error that ends the grid with `code`. Returns null, as a handler must then.
const Insn* fault(Exec* x, const Insn* i, int lane, CUresult code, driver::FindingKind kind,
                  const std::string& message);

}  // namespace baton::sim
