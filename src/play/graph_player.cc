#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "driver/driver.h"
#include "play/captured_stream.h"
#include "play/failed_run.h"
#include "play/graph_layout.h"
#include "play/node_updates.h"
#include "play/player.h"
#include "play/sender.h"
#include "play/tape_graph.h"
#include "runtime/context.h"
#include "runtime/crossing.h"

namespace baton::play {
namespace {

// With a time limit the graph records an event after every so many steps, so that it can be said
// where it stands: at most so many events in all.
constexpr std::uint64_t kMostMarks = 4096;

class GraphPlayer : public Player {
 public:
  explicit GraphPlayer(const Device& device) : device_(device), begin_(device), end_(device) {}

  void play(const PlayContext& context) override {
    launched_ = false;
    try {
      if (context.log.first_run()) {
        lay_out(context);
      } else {
        context.log.begin_run();
      }
      for (const std::uint32_t row : layout_.idle) context.log.done(row);
      launch(context);
    } catch (Error& failure) {
      note(failure, context.log);
      context.log.abandon_run();
      throw;
    }
  }

  // A graph that is launched into a capture would be one child of the caller's graph. Its steps are
  // captured one by one instead, with their programmatic edges.
  void enqueue(const PlayTarget& target) override {
    require_own(target.stream);
    const ContextGuard guard(target.device);  // for both calls
    const driver::Driver& driver = target.device.driver();
    const NativeStream stream = target.stream.native();
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    BATON_DRIVER_CALL(driver, cuStreamIsCapturing, stream, &status);
    if (status != CU_STREAM_CAPTURE_STATUS_NONE) [[unlikely]]
      return capture(target);
    bring_up_to_date(target);
    if (counts_.nodes != 0) BATON_DRIVER_CALL(driver, cuGraphLaunch, instance_->native(), stream);
  }

  void check_conditions(const Stream& stream) override {
    std::optional<Error> failure = check_retired(stream);
    if (tests_) {
      DeviceTests::Counts counts = tests_->take_counts(stream);
      if (!failure) failure = std::move(counts.failure);
    }
    if (failure) throw std::move(*failure);
  }

  void prepare(const PlayTarget& target) override {
    require_own(target.stream);
    bring_up_to_date(target);
  }

  void note_changes(const bind::TapeChanges& changes, std::uint64_t from,
                    std::uint64_t to) override {
    // Copies and fills, and a graph that is not up to date, are left to `make`.
    if (!instance_ || binding_ != from || changes.moves) return;
    nodes_.mark(changes);
    binding_ = to;
  }

 private:
  // A driver may take a graph of one device for a stream of another.
  void require_own(const Stream& stream) const {
    require_one_device("program", device_, "stream", stream.device());
  }

  void bring_up_to_date(const PlayTarget& target) {
    if (!is_made(target, 0)) return make(target, nullptr, 0);
    if (nodes_.apply(*instance_, target)) ++counts_.updates;
  }

  // Launches record their events there, which become edges of the caller's graph. Nodes of the own
  // graph keep no events.
  void capture(const PlayTarget& target) {
    if (target.tape.has_conditions()) return capture_conditions(target);
    target.tape.set_events(target.lanes.events());
    try {
      send_all(target);
    } catch (...) {
      target.tape.set_events({});
      throw;
    }
    target.tape.set_events({});
  }

  // No stream enqueues conditional nodes: the steps are added to the caller's graph itself. They
  // share the memory of the tests with the own graph.
  void capture_conditions(const PlayTarget& target) {
    if (!tests_ || binding_ != target.binding) {
      throw error(ErrorCode::kInvalidInput,
                  "the program has if or while steps, and a capture cannot allocate what tests "
                  "them; prepare the program before the capture begins");
    }
    const CapturedStream captured(target.stream);
    TapeGraph graph(captured.graph(), captured.after());
    NodeUpdates nodes;
    std::vector<Event> marks;
    play::lay_out({target, nullptr, &graph, tests(), 0, marks, nodes});
    captured.go_on_after(graph.ends());
    tests_are_captured_ = true;
    captured_graphs_.push_back(std::move(graph));
  }

  bool is_made(const PlayTarget& target, std::uint64_t stride) const {
    return instance_ && binding_ == target.binding && stride_ == stride;
  }

  void make(const PlayTarget& target, const PlayContext* run, std::uint64_t stride) {
    layout_ = {};
    nodes_.clear();
    binding_ = 0;  // of none, until the graph is made
    make_tests(target);
    if (target.records != nullptr) target.records->begin();
    TapeGraph graph(device_);
    layout_ = play::lay_out({target, run, &graph, tests(), stride, events_, nodes_});
    take(std::move(graph));
    binding_ = target.binding;
    stride_ = stride;
  }

  // Runs that were enqueued with the old tests may be under way.
  void make_tests(const PlayTarget& target) {
    if (tests_) (tests_are_captured_ ? captured_ : retired_).push_back(std::move(*tests_));
    tests_.reset();
    tests_are_captured_ = false;
    const std::size_t conditions = target.tape.has_conditions() ? count_conditions(target.tape) : 0;
    if (conditions == 0) return;
    if (test_ == nullptr) {
      test_ = std::make_shared<const LaunchPlan>(make_condition_test(device_));
    }
    tests_.emplace(test_, conditions, target.stream);
  }

  // The report's steps, and the graph of them where there is none yet for these values.
  void lay_out(const PlayContext& context) {
    context.log.begin_run();
    const std::uint64_t stride =
        context.watch.limited() ? (context.steps + kMostMarks - 1) / kMostMarks : 0;
    if (is_made(context, stride)) {
      layout_ = {};
      layout_ = play::lay_out({context, &context, nullptr, tests(), stride, events_, nodes_});
      if (nodes_.apply(*instance_, context)) ++counts_.updates;
    } else {
      make(context, &context, stride);
    }
    context.log.graph(counts_);
  }

  void take(TapeGraph graph) {
    const bool updated = instance_ && instance_->update(graph);
    if (updated) {
      ++counts_.updates;
    } else {
      instance_.reset();
      instance_.emplace(std::move(graph));
      ++counts_.builds;
      const Graph::Counts counts = instance_->graph().counts();
      counts_.nodes = counts.nodes;
      counts_.edges = counts.edges;
      counts_.programmatic_edges = counts.programmatic_edges;
    }
    log(LogLevel::kInfo,
        "the graph of {} nodes and {} edges, {} of them programmatic, is {}: {} made so far, {} "
        "updates",
        counts_.nodes, counts_.edges, counts_.programmatic_edges,
        updated ? "updated in place" : "made", counts_.builds, counts_.updates);
  }

  void launch(const PlayContext& context) {
    begin_.record(context.stream);
    launched_ = true;
    if (counts_.nodes != 0) instance_->launch(context.stream);
    end_.record(context.stream);
    std::size_t mark = 0;
    context.watch.wait([&] {
      for (; mark < layout_.marks.size() && events_[mark].done() && reached(events_[mark]);
           ++mark) {
        context.steps_done = layout_.marks[mark];
      }
      return end_.done();
    });
    if (device_.driver().simulator != nullptr && context.time_steps && context.log.first_run()) {
      count(context.log);
    }
    std::optional<Error> failure = finish_conditions(context);
    context.log.all_done();
    context.steps_done = layout_.steps;
    launched_ = false;
    if (failure) throw std::move(*failure);
    context.log.end_run(elapsed_seconds(begin_, end_));
  }

  DeviceTests* tests() { return tests_ ? &*tests_ : nullptr; }

  // What the conditions of earlier graphs found wrong.
  std::optional<Error> check_retired(const Stream& stream) {
    std::optional<Error> failure;
    for (const DeviceTests& tests : std::exchange(retired_, {})) {
      DeviceTests::Counts counts = tests.take_counts(stream);
      if (!failure) failure = std::move(counts.failure);
    }
    for (const DeviceTests& tests : captured_) {
      DeviceTests::Counts counts = tests.take_counts(stream);
      if (!failure) failure = std::move(counts.failure);
    }
    return failure;
  }

  std::optional<Error> finish_conditions(const PlayContext& context) {
    std::optional<Error> failure = check_retired(context.stream);
    if (!tests_) return failure;
    DeviceTests::Counts counts = tests_->take_counts(context.stream);
    if (context.log.first_run()) log_conditions(context, *tests_, counts.executions);
    return failure ? std::move(failure) : std::move(counts.failure);
  }

  void count(RunLog& log) const {
    if (counts_.nodes == 0) return;
    const std::vector<driver::Counters> counters = instance_->counters();
    for (std::size_t i = 0; i < counters.size(); ++i) {
      log.counted(layout_.rows[i], counters[i]);
    }
  }

  // Whether the event was recorded in this run: it may keep what an earlier run recorded.
  bool reached(const Event& event) const {
    try {
      return elapsed_seconds(begin_, event) >= 0;
    } catch (const Error&) {
      return false;  // not yet
    }
  }

  void note(Error& failure, RunLog& log) const {
    if (!launched_) return;
    const bool given_up =
        failure.code() == ErrorCode::kTimeout || failure.code() == ErrorCode::kInterrupted;
    const bool fault = failure.code() == ErrorCode::kFault && device_.driver().simulator == nullptr;
    if (fault && layout_.first.step != nullptr) {
      failure = blame(failure, layout_.first, counts_.nodes == 1);
    }
    if (!given_up || layout_.marks.empty()) {
      failure.note(
          fmt::format("the run is one graph of {} node{}; the stream executor names the step that "
                      "did not complete",
                      counts_.nodes, counts_.nodes == 1 ? "" : "s"));
      return;
    }
    std::size_t done = 0;
    for (std::size_t i = 0; i < layout_.marks.size() && reached(events_[i]); ++i) {
      done = layout_.marks[i];
    }
    for (std::size_t i = 0; i < done; ++i) log.done(layout_.places[i].row);
    note_standing(failure, std::span(layout_.places).subspan(done), log);
  }

  Device device_;
  Event begin_, end_;                       // of the run
  std::vector<Event> events_;               // of the marks; outlive the graph that records them
  std::shared_ptr<const LaunchPlan> test_;  // of conditions; made when there are any
  std::optional<DeviceTests> tests_;        // of the graph
  std::vector<DeviceTests> retired_;        // of earlier graphs that were enqueued
  std::vector<DeviceTests> captured_;       // of earlier ones that graphs of the caller use
  bool tests_are_captured_ = false;
  std::vector<TapeGraph> captured_graphs_;  // keep what nodes of the caller's graphs call
  std::optional<TapeInstance> instance_;
  NodeUpdates nodes_;
  std::uint64_t binding_ = 0;  // what the graph was made for
  std::uint64_t stride_ = 0;   // between its marks; 0: it has none
  GraphReport counts_;
  GraphLayout layout_;
  bool launched_ = false;  // in this run
};

}  // namespace

std::unique_ptr<Player> make_graph_player(const Device& device) {
  return std::make_unique<GraphPlayer>(device);
}

}  // namespace baton::play
