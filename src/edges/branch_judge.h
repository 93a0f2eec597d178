#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baton/check.h"
#include "bind/plan.h"
#include "pdl/footprint/bound.h"

namespace baton::edges {

// Judges whether branches that run side by side may race: whether one may write what another one
// touches. It sees the steps of the branches while they are bound. Elements that only the kernels'
// own numbers keep apart count as touched by both.
class BranchJudge {
 public:
  // `is_constant`: memory that no step writes, by promise. `name`: of memory, for messages.
  BranchJudge(std::function<bool(overlap::MemoryId)> is_constant,
              std::function<const std::string&(overlap::MemoryId)> name)
      : is_constant_(std::move(is_constant)), name_(std::move(name)) {}

  // The branches of a parallel follow, each after a call of `branch`, up to `join`.
  void fork(const bind::PlannedStep& parallel) { open_.push_back({&parallel, {}}); }
  void branch();
  void join();
  bool is_open() const { return !open_.empty(); }

  // `label`: of the launch; `early`: it may start before the launch before it in its branch is
  // done. Without an effect outside of branches.
  void add(const overlap::BoundLaunch& launch, const std::string& label, bool early);
  // A launch with an empty grid, which waits for nothing.
  void skip();
  // The launch that was added last records the event, or was skipped.
  void record(const bind::PlannedEvent& event);
  // The launch that is added next comes after the event.
  void after(const bind::PlannedEvent& event);
  // A copy, a fill or a test, of `bytes` from `offset` on.
  void add(overlap::MemoryId memory, std::uint64_t offset, std::uint64_t bytes, bool writes,
           const std::string& label);

  // In the order of their ends; one for each parallel of the program that was executed.
  const std::vector<ParallelReport>& reports() const { return reports_; }

 private:
  // Events by number.
  using Events = std::set<std::uint32_t>;
  struct Access {
    std::optional<overlap::MemoryId> memory = {};  // nothing: any
    std::uint64_t offset = 0;
    std::uint64_t bytes = overlap::kUnknownBytes;  // kUnknownBytes: any of it
    bool writes = false;
    bool atomic = false;     // reads and writes in one operation
    std::string what = {};   // "scale writes y at a.cu:4"
    std::uint32_t part = 0;  // number within its branch; each part ends with an event
    Events after = {};       // it comes when launches that record these are done

    bool operator==(const Access&) const = default;
  };
  // A launch that records a programmatic event, done together with all before it in its branch.
  struct Recorded {
    std::size_t branch = 0;
    std::uint32_t part = 0;  // the last one that is done then
  };
  struct Open {
    const bind::PlannedStep* parallel = nullptr;
    std::vector<std::vector<Access>> branches;
    std::map<std::uint32_t, Recorded> recorded = {};
    // Of the branch at hand.
    std::uint32_t part = 0;
    Events done = {};         // when all steps up to here are
    Events last_done = {};    // when the last launch is
    Events next = {};         // that the next launch comes after
    bool last_is_all = true;  // the last launch is not done before all that came before it
  };

  static void add(Open& open, Access access);
  std::optional<std::string> conflict(const Access& a, const Access& b) const;
  static bool is_ordered(const Open& open, std::size_t earlier, const Access& a, const Access& b);
  ParallelReport& report_of(const bind::PlannedStep& parallel);

  std::function<bool(overlap::MemoryId)> is_constant_;
  std::function<const std::string&(overlap::MemoryId)> name_;
  std::vector<Open> open_;  // the innermost last
  std::vector<const bind::PlannedStep*> reported_;
  std::vector<ParallelReport> reports_;
};

}  // namespace baton::edges
