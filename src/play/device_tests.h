#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "baton/buffer.h"
#include "baton/graph.h"
#include "baton/launch_plan.h"
#include "bind/tape_walk.h"

namespace baton::play {

// The kernel that tests a condition. Threads may share it.
LaunchPlan make_condition_test(const Device& device);

// The tests of a graph's conditions. A kernel of Baton's own looks at the tested buffer, sets the
// condition, and counts in device memory. One thread at a time.
class DeviceTests {
 public:
  // For up to `count` conditions of a tape, more than 0. Enqueues the first counts on the stream.
  DeviceTests(std::shared_ptr<const LaunchPlan> test, std::size_t count, const Stream& stream);

  // The number of a condition of the tape: a new one, or the one that it has.
  std::size_t number_of(const bind::RunStep& at, const bind::TapeCondition& condition);

  // Adds the node that begins a run's counts.
  NativeGraphNode add_reset(Graph& graph, std::span<const GraphEdge> after) const;
  // Adds the node that sets `target` as the value of condition `number` wants it. `is_first`: the
  // test comes before the first execution of the condition's steps.
  NativeGraphNode add_test(Graph& graph, std::span<const GraphEdge> after, std::size_t number,
                           bool is_first, GraphCondition target,
                           const bind::BufferTable& buffers) const;

  struct Counts {
    // How often the steps of each condition were executed in the last run, by number.
    std::vector<std::uint64_t> executions;
    // A while that was not done after as many iterations as it may have, in any run since the last
    // call.
    std::optional<Error> failure;
  };
  // Waits for the stream.
  Counts take_counts(const Stream& stream) const;

 private:
  struct Condition {
    const bind::PlannedStep* step;
    std::uint64_t at_most;
  };
  // What the kernel writes of one condition.
  enum Column : std::size_t { kTotal, kIterations, kExceeded, kColumns };

  DeviceAddress place(Column column, std::size_t number) const {
    return memory_.address() + (column * count_ + number) * sizeof(std::uint64_t);
  }

  std::shared_ptr<const LaunchPlan> test_;
  std::size_t count_;
  Memory memory_;  // kColumns arrays with one number a condition
  std::vector<Condition> conditions_;
  // By the step, and its number in a walk: iterations of a repeat have conditions of their own.
  std::map<std::pair<const bind::PlannedStep*, std::uint64_t>, std::size_t> numbers_;
};

}  // namespace baton::play
