#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "driver/driver.h"
#include "exec/executor.h"
#include "exec/graph.h"
#include "exec/pass.h"

namespace baton::exec {
namespace {

// With a time limit the graph records an event behind every so many steps, so that it can be said
// where it stands: at most so many events in all.
constexpr std::uint64_t kMostMarks = 4096;

// What is to be known of a graph's steps once they run.
struct Layout {
  std::vector<std::uint32_t> rows;  // of the report, by launch that is a node
  std::vector<std::uint32_t> idle;  // of the report, by step for which there is nothing to do
  Place first;                      // of the steps that are nodes
  std::vector<Place> places;        // all of them, where there are marks
  std::vector<std::size_t> marks;   // how many of the places each event ends
  std::uint64_t steps = 0;          // those that are no nodes too
};

// Lays a run's steps out as a graph, or, where that stands already, goes through them for the
// report alone.
class GraphPass : public Pass {
 public:
  // `events` are for the marks, made as they are needed; without a stride there are none.
  GraphPass(const RunContext& context, Graph* graph, std::uint64_t stride,
            std::vector<Event>& events, Layout& layout)
      : Pass(context), graph_(graph), stride_(stride), events_(events), layout_(layout) {}

  void run() {
    walk(context_.plan.steps);
    if (unmarked_ != 0) mark();
  }

 private:
  void launch(const Place& place, PlannedLaunch& launch) override {
    if (graph_ != nullptr) {
      graph_->add(*launch.sent, place.programmatic, context_.waits[launch.number]);
    }
    layout_.rows.push_back(place.row);
    added(place);
  }

  void copy(const Place& place, const PlannedCopy& copy, const CopyValues& values) override {
    if (graph_ != nullptr) {
      graph_->add_copy(context_.buffers[copy.to].address() + values.to,
                       context_.buffers[copy.from].address() + values.from, values.bytes);
    }
    added(place);
  }

  void fill(const Place& place, const PlannedFill& fill, std::uint64_t bits) override {
    const BoundBuffer& buffer = context_.buffers[fill.buffer];
    if (graph_ != nullptr) {
      graph_->add_fill(buffer.address(), bits, static_cast<unsigned>(buffer.element_size()),
                       static_cast<std::uint64_t>(buffer.elements));
    }
    added(place);
  }

  void nothing(const Place& place) override {
    layout_.idle.push_back(place.row);
    ++layout_.steps;
  }

  void added(const Place& place) {
    ++layout_.steps;
    if (layout_.first.step == nullptr) layout_.first = place;
    if (stride_ == 0) return;
    layout_.places.push_back(place);
    if (++unmarked_ == stride_) mark();
  }

  void mark() {
    const std::size_t number = layout_.marks.size();
    layout_.marks.push_back(layout_.places.size());
    unmarked_ = 0;
    if (graph_ == nullptr) return;
    if (events_.size() == number) events_.emplace_back(context_.device);
    graph_->add_mark(events_[number]);
  }

  Graph* graph_;
  const std::uint64_t stride_;
  std::vector<Event>& events_;
  Layout& layout_;
  std::uint64_t unmarked_ = 0;
};

class GraphExecutor : public Executor {
 public:
  explicit GraphExecutor(const Device& device) : device_(device), begin_(device), end_(device) {}

  void run(const RunContext& context) override {
    launched_ = false;
    try {
      if (context.report.first_run()) {
        lay_out(context);
      } else {
        context.report.begin_same_run();
      }
      for (const std::uint32_t row : layout_.idle) context.report.done(row);
      launch(context);
    } catch (Error& failure) {
      note(failure, context.report);
      context.report.abandon_run();
      throw;
    }
  }

 private:
  // The report's steps, and the graph of them where there is none yet for these values.
  void lay_out(const RunContext& context) {
    context.report.begin_run();
    const std::uint64_t stride =
        context.watch.limited() ? (context.steps + kMostMarks - 1) / kMostMarks : 0;
    layout_ = {};
    if (instance_ && binding_ == context.binding && stride_ == stride) {
      GraphPass(context, nullptr, stride, events_, layout_).run();
    } else {
      Graph graph(device_);
      GraphPass(context, &graph, stride, events_, layout_).run();
      take(std::move(graph));
      binding_ = context.binding;
      stride_ = stride;
    }
    context.report.graph(counts_);
  }

  void take(Graph graph) {
    const bool updated = instance_ && instance_->update(graph);
    if (updated) {
      ++counts_.updates;
    } else {
      instance_.reset();
      instance_.emplace(device_, std::move(graph));
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

  void launch(const RunContext& context) {
    begin_.record(context.stream);
    launched_ = true;
    if (counts_.nodes != 0) instance_->launch(context.stream);
    end_.record(context.stream);
    context.watch.wait([this] { return end_.done(); });
    if (device_.driver().simulator != nullptr && context.time_steps && context.report.first_run()) {
      count(context.report);
    }
    context.report.all_done();
    context.steps_done = layout_.steps;
    context.report.end_run(elapsed_seconds(begin_, end_));
  }

  void count(ReportBuilder& report) const {
    if (counts_.nodes == 0) return;
    const std::vector<driver::Counters> counters = instance_->counters();
    for (std::size_t i = 0; i < counters.size(); ++i) {
      report.counted(layout_.rows[i], counters[i]);
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

  void note(Error& failure, ReportBuilder& report) const {
    if (!launched_) return;
    const bool given_up =
        failure.code() == ErrorCode::kTimeout || failure.code() == ErrorCode::kInterrupted;
    const bool fault = failure.code() == ErrorCode::kFault && device_.driver().simulator == nullptr;
    if (fault && layout_.first.step != nullptr) {
      failure = blame(failure, layout_.first, counts_.nodes == 1);
    }
    if (!given_up || layout_.marks.empty()) {
      failure.note(fmt::format(
          "the run is one graph of {} nodes; the stream executor says at which step it stands",
          counts_.nodes));
      return;
    }
    std::size_t done = 0;
    for (std::size_t i = 0; i < layout_.marks.size() && reached(events_[i]); ++i) {
      done = layout_.marks[i];
    }
    for (std::size_t i = 0; i < done; ++i) report.done(layout_.places[i].row);
    note_standing(failure, std::span(layout_.places).subspan(done), report);
  }

  Device device_;
  Event begin_, end_;          // of the run
  std::vector<Event> events_;  // of the marks; outlive the graph that records them
  std::optional<GraphInstance> instance_;
  std::uint64_t binding_ = 0;  // what the graph was made for
  std::uint64_t stride_ = 0;   // between its marks; 0: it has none
  GraphReport counts_;
  Layout layout_;
  bool launched_ = false;  // in this run
};

}  // namespace

std::unique_ptr<Executor> make_graph_executor(const Device& device) {
  return std::make_unique<GraphExecutor>(device);
}

}  // namespace baton::exec
