#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "bind/tape_walk.h"
#include "driver/driver.h"
#include "play/failed_run.h"
#include "play/moves.h"
#include "play/node_updates.h"
#include "play/player.h"
#include "play/sender.h"
#include "play/tape_graph.h"

namespace baton::play {
namespace {

// With a time limit the graph records an event behind every so many steps, so that it can be said
// where it stands: at most so many events in all.
constexpr std::uint64_t kMostMarks = 4096;

// What is to be known of a graph's steps once they run.
struct Layout {
  std::vector<std::uint32_t> rows;    // of the report, by launch that is a node
  std::vector<std::uint32_t> idle;    // of the report, by step for which there is nothing to do
  bind::RunStep first;                // of the steps that are nodes
  std::vector<bind::RunStep> places;  // all of them, where there are marks
  std::vector<std::size_t> marks;     // how many of the places each event ends
  std::uint64_t steps = 0;            // those that are no nodes too
};

// Lays a tape out as a graph, or, if the graph exists already, goes through it for the log alone.
class Layouter {
 public:
  // `run` has the log; null: nothing is logged. `events` are for the marks, and are made as needed;
  // a stride of 0 means no marks. `tests`: of a tape with conditions.
  // `nodes` gets the launches of a graph that is made.
  Layouter(const PlayTarget& context, const PlayContext* run, TapeGraph* graph, DeviceTests* tests,
           std::uint64_t stride, std::vector<Event>& events, Layout& layout, NodeUpdates& nodes)
      : context_(context),
        run_(run),
        graph_(graph),
        tests_(tests),
        stride_(stride),
        events_(events),
        layout_(layout),
        nodes_(nodes) {}

  void run() {
    if (graph_ != nullptr && tests_ != nullptr) graph_->add_reset(*tests_);
    bind::TapeWalk walk(context_.tape);
    const auto step = [&](bind::RunStep& at, auto& action) {
      if (run_ != nullptr) run_->watch.check();
      if (copies_ != 0) {
        at.row = at.step->leaf;
      } else if (run_ != nullptr) {
        run_->log.next(at, action, walk.slots());
      }
      add(at, action);
      note(at, action, walk.slots());
    };
    walk.run(step, [&](const bind::RunStep& at, const bind::TapeCondition& condition,
                       std::uint64_t times) { return test(at, condition, times); });
    if (unmarked_ != 0) mark();
  }

 private:
  void add(const bind::RunStep& at, const bind::TapeLaunch& launch) {
    if (launch.form == nullptr) return nothing(at);
    if (graph_ != nullptr) {
      const LaunchPlan& plan = at.programmatic ? *launch.form->early : *launch.form->full;
      graph_->add(plan, launch.arguments, at.programmatic, launch.site->decision.waits);
    }
    layout_.rows.push_back(at.row);
    added(at);
  }

  template <typename Planned>
  void add(const bind::RunStep& at, const bind::TapeMove<Planned>& move) {
    if (bytes_moved(move, context_.buffers) == 0) return nothing(at);
    if (graph_ != nullptr) add_to(*graph_, move, context_.buffers);
    added(at);
  }

  // A simulated GPU is told of each launch which one it is, and what it may access.
  void note(const bind::RunStep& at, const bind::TapeLaunch& launch,
            std::span<const std::int64_t> slots) {
    if (graph_ == nullptr || launch.form == nullptr) return;
    driver::Simulator* const simulator = context_.device.driver().simulator;
    nodes_.add(launch, at.programmatic, at.number,
               simulator == nullptr ? std::span<const std::int64_t>() : slots);
    if (simulator == nullptr) return;
    simulator->note_node(graph_->launches().back(),
                         note_of(launch, at.number, slots, context_.buffers, context_.tags));
  }
  template <typename Move>
  void note(const bind::RunStep&, const Move&, std::span<const std::int64_t>) {}

  // The body of a condition is laid out once, and that of a loop once for each iteration in one of
  // its turns. How often its steps were executed is logged when the run is done.
  bool test(const bind::RunStep& at, const bind::TapeCondition& condition, std::uint64_t times) {
    const bool is_loop = condition.group->test.is_loop();
    if (times == 0) {
      if (depth_++ == 0) place({at.step, nullptr, RunLog::kNoRow, false, at.number});
      if (graph_ != nullptr) {
        graph_->begin_condition(*tests_, tests_->number_of(at, condition), is_loop,
                                context_.buffers);
      }
      return true;
    }
    if (is_loop && times < std::min(condition.values.unroll, condition.values.at_most)) {
      if (times == 1) ++copies_;
      if (graph_ != nullptr) graph_->next_iteration(*tests_, context_.buffers);
      return true;
    }
    if (times > 1) --copies_;
    if (graph_ != nullptr) graph_->end_condition(*tests_, context_.buffers);
    --depth_;
    mark_if_due();
    return false;
  }

  void nothing(const bind::RunStep& at) {
    if (depth_ == 0) layout_.idle.push_back(at.row);
    if (copies_ == 0) ++layout_.steps;
  }

  void added(const bind::RunStep& at) {
    if (copies_ == 0) ++layout_.steps;
    if (layout_.first.step == nullptr) layout_.first = at;
    if (depth_ == 0) place(at);
  }

  void place(const bind::RunStep& at) {
    if (stride_ == 0) return;
    layout_.places.push_back(at);
    ++unmarked_;
    mark_if_due();
  }

  // No event can be recorded in the body of a condition.
  void mark_if_due() {
    if (depth_ == 0 && stride_ != 0 && unmarked_ >= stride_) mark();
  }

  void mark() {
    const std::size_t number = layout_.marks.size();
    layout_.marks.push_back(layout_.places.size());
    unmarked_ = 0;
    if (graph_ == nullptr) return;
    if (events_.size() == number) events_.emplace_back(context_.device);
    graph_->add_mark(events_[number]);
  }

  const PlayTarget& context_;
  const PlayContext* run_;
  TapeGraph* graph_;
  DeviceTests* tests_;
  const std::uint64_t stride_;
  std::vector<Event>& events_;
  Layout& layout_;
  NodeUpdates& nodes_;
  std::uint64_t unmarked_ = 0;
  std::size_t depth_ = 0;   // conditions around the step
  std::size_t copies_ = 0;  // of these, those whose steps were laid out before
};

std::size_t count_conditions(bind::Tape& tape) {
  std::size_t count = 0;
  bind::TapeWalk(tape).run(
      [](bind::RunStep&, const auto&) {},
      [&](const bind::RunStep&, const bind::TapeCondition&, std::uint64_t times) {
        if (times == 0) ++count;
        return times == 0;
      });
  return count;
}

// Logs the conditions of a run that is done, and the steps in them. `counts`: how often the steps
// of each were executed.
void log_conditions(const PlayContext& context, DeviceTests& tests,
                    const std::vector<std::uint64_t>& counts) {
  context.log.recount();
  std::vector<std::uint64_t> open;  // of the conditions around a step
  bind::TapeWalk walk(context.tape);
  const auto step = [&](bind::RunStep& at, const auto& action) {
    if (!open.empty()) context.log.next_done(at, action, walk.slots(), open.back());
  };
  walk.run(step,
           [&](const bind::RunStep& at, const bind::TapeCondition& condition, std::uint64_t times) {
             if (times != 0) {
               open.pop_back();
               return false;
             }
             open.push_back(counts[tests.number_of(at, condition)]);
             context.log.executed(*at.step, open.back());
             return true;
           });
}

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
    if (target.stream.is_capturing()) return send_all(target, "a stream that is captured");
    prepare(target);
    if (counts_.nodes != 0) instance_->launch(target.stream);
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
    if (!is_made(target, 0)) return make(target, nullptr, 0);
    if (nodes_.apply(*instance_, target)) ++counts_.updates;
  }

  void note_changes(const bind::TapeChanges& changes, std::uint64_t from,
                    std::uint64_t to) override {
    // Copies and fills, and a graph that is not up to date, are left to `make`.
    if (!instance_ || binding_ != from || changes.moves) return;
    nodes_.mark(changes);
    binding_ = to;
  }

 private:
  bool is_made(const PlayTarget& target, std::uint64_t stride) const {
    return instance_ && binding_ == target.binding && stride_ == stride;
  }

  void make(const PlayTarget& target, const PlayContext* run, std::uint64_t stride) {
    layout_ = {};
    nodes_.clear();
    binding_ = 0;  // of none, until the graph is made
    make_tests(target);
    TapeGraph graph(device_);
    Layouter(target, run, &graph, tests_ ? &*tests_ : nullptr, stride, events_, layout_, nodes_)
        .run();
    take(std::move(graph));
    binding_ = target.binding;
    stride_ = stride;
  }

  // Runs that were enqueued with the old tests may be under way.
  void make_tests(const PlayTarget& target) {
    if (tests_) retired_.push_back(std::move(*tests_));
    tests_.reset();
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
      Layouter(context, &context, nullptr, tests_ ? &*tests_ : nullptr, stride, events_, layout_,
               nodes_)
          .run();
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
    context.watch.wait([this] { return end_.done(); });
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

  // What the conditions of earlier graphs found wrong.
  std::optional<Error> check_retired(const Stream& stream) {
    std::optional<Error> failure;
    for (const DeviceTests& tests : std::exchange(retired_, {})) {
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
          fmt::format("the run is one graph of {} nodes; the stream executor names the step that "
                      "did not complete",
                      counts_.nodes));
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
  std::optional<TapeInstance> instance_;
  NodeUpdates nodes_;
  std::uint64_t binding_ = 0;  // what the graph was made for
  std::uint64_t stride_ = 0;   // between its marks; 0: it has none
  GraphReport counts_;
  Layout layout_;
  bool launched_ = false;  // in this run
};

}  // namespace

std::unique_ptr<Player> make_graph_player(const Device& device) {
  return std::make_unique<GraphPlayer>(device);
}

}  // namespace baton::play
