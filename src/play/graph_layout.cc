#include "play/graph_layout.h"

#include <algorithm>
#include <utility>

#include "bind/tape_walk.h"
#include "driver/driver.h"
#include "play/moves.h"
#include "play/note_steps.h"

namespace baton::play {
namespace {

class Layouter {
 public:
  explicit Layouter(const GraphLayoutRequest& request)
      : context_(request.context),
        run_(request.run),
        graph_(request.graph),
        tests_(request.tests),
        stride_(request.stride),
        events_(request.events),
        nodes_(request.nodes) {}

  GraphLayout run() {
    if (graph_ != nullptr) context_.collectives.forget_messages();
    if (graph_ != nullptr && tests_ != nullptr) graph_->add_reset(*tests_);
    bind::TapeWalk walk(context_.tape);
    const auto step = [&](bind::RunStep& at, auto& action) {
      if (run_ != nullptr) run_->watch.check();
      note_execution(at, action, context_.collectives);
      if (copies_ != 0) {
        at.row = at.step->leaf;
      } else if (run_ != nullptr) {
        run_->log.next(at, action, walk.slots());
      }
      add(at, action);
      note(at, action, walk.slots());
    };
    walk.run(
        step,
        [&](const bind::RunStep& at, const bind::TapeCondition& condition, std::uint64_t times) {
          return test(at, condition, times);
        },
        [&](const auto& place) { branch(place); });
    flush_messages();
    if (unmarked_ != 0) mark();
    return std::move(layout_);
  }

 private:
  void add(const bind::RunStep& at, const bind::TapeLaunch& launch) {
    if (launch.form == nullptr) return nothing(at);
    flush_messages();
    if (graph_ != nullptr) {
      LaunchPlan& plan = at.programmatic ? *launch.form->early : *launch.form->full;
      if (context_.records != nullptr) {
        note_step(*context_.records, at, launch, plan, loops_ != 0);
      }
      graph_->add(plan, launch.arguments, at.programmatic, launch.site->decision.waits);
    }
    layout_.rows.push_back(at.row);
    added(at);
  }

  template <typename Planned>
  void add(const bind::RunStep& at, const bind::TapeMove<Planned>& move) {
    if (bytes_moved(move, context_.buffers) == 0) return nothing(at);
    flush_messages();
    if (graph_ != nullptr) {
      note_move(at);
      add_to(*graph_, move, context_.buffers);
    }
    added(at);
  }

  void add(const bind::RunStep& at, const bind::TapeCollective& collective) {
    if (bytes_moved(collective, context_.buffers) == 0) return nothing(at);
    if (graph_ != nullptr) {
      note_move(at);
      context_.collectives.add_to(*graph_, at, collective, context_.buffers);
    }
    added(at);
  }

  void note_move(const bind::RunStep& at) {
    if (context_.records != nullptr) note_step(*context_.records, at);
  }

  // Something else follows messages that were kept to be one group.
  void flush_messages() {
    if (graph_ != nullptr) context_.collectives.flush(*graph_);
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
      flush_messages();
      if (is_loop) ++loops_;
      if (depth_++ == 0) place({.step = at.step, .row = RunLog::kNoRow, .number = at.number});
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
    if (is_loop) --loops_;
    mark_if_due();
    return false;
  }

  void branch(const bind::TapeFork&) {
    flush_messages();
    ++branches_;
    if (graph_ != nullptr) graph_->begin_branches();
  }
  void branch(const bind::TapeBranch&) {
    if (graph_ != nullptr) graph_->begin_branch();
  }
  void branch(const bind::TapeAfter& after) {
    if (graph_ != nullptr) graph_->begin_after(after);
  }
  void branch(const bind::TapeRecorded& recorded) {
    if (graph_ != nullptr) graph_->record(recorded);
  }
  void branch(const bind::TapeJoin&) {
    --branches_;
    if (graph_ != nullptr) graph_->end_branches();
    mark_if_due();
  }

  void nothing(const bind::RunStep& at) {
    if (graph_ != nullptr) graph_->forget_after();
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

  // No event can be recorded in the body of a condition. In a branch one would say nothing of the
  // others.
  void mark_if_due() {
    if (depth_ == 0 && branches_ == 0 && stride_ != 0 && unmarked_ >= stride_) mark();
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
  GraphLayout layout_;
  NodeUpdates& nodes_;
  std::uint64_t unmarked_ = 0;
  std::size_t depth_ = 0;     // conditions around the step
  std::size_t loops_ = 0;     // loops among them
  std::size_t branches_ = 0;  // parallels around the step
  std::size_t copies_ = 0;    // of these, those whose steps were laid out before
};

}  // namespace

GraphLayout lay_out(const GraphLayoutRequest& request) {
  return Layouter(request).run();
}

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

}  // namespace baton::play
