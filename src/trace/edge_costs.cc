#include "trace/edge_costs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace baton::trace {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

// A time in which a block of a multiprocessor works.
struct Work {
  double begin, end;
};

// The blocks of one multiprocessor.
struct SmWork {
  std::vector<Work> work;
  // By launch, in their order: when its dependent work there begins first.
  std::vector<std::pair<std::size_t, double>> free;
};

double median_end(const TimedStep& step) {
  std::vector<double> ends;
  for (const TimedBlock& block : step.blocks) ends.push_back(block.end);
  const auto middle = ends.begin() + static_cast<std::ptrdiff_t>(ends.size() / 2);
  std::nth_element(ends.begin(), middle, ends.end());
  return *middle;
}

// Of `time(block)` over the blocks, where those that do not wait count as 0.
template <typename Time>
double mean_of_waiting(const TimedStep& step, Time time) {
  double sum = 0;
  for (const TimedBlock& block : step.blocks) {
    if (block.waited()) sum += time(block);
  }
  return sum / static_cast<double>(step.blocks.size());
}

class Counter {
 public:
  Counter(const RunTimeline& timeline, std::uint32_t multiprocessors) : timeline_(timeline) {
    collect_launches();
    places_.resize(multiprocessors);
    for (std::size_t k = 0; k < launches_.size(); ++k) place(k);
  }

  EdgeCosts run() {
    for (std::size_t k = 1; k < launches_.size(); ++k) add_times(k);
    for (SmWork& place : places_) add_idle(place);
    out_.capacity = timeline_.end * static_cast<double>(places_.size());
    for (EdgeCost& edge : out_.edges) {
      const auto count = static_cast<double>(edge.executions);
      for (double* mean : {&edge.overlap, &edge.gap, &edge.wait, &edge.early_work, &edge.tail}) {
        *mean /= count;
      }
      if (edge.triggered != 0) edge.lead /= static_cast<double>(edge.triggered);
    }
    return std::move(out_);
  }

 private:
  void collect_launches() {
    bool is_apart = true;  // something that is not timed lies between
    double end = 0;
    for (const TimedStep& step : timeline_.steps) {
      if (!step.is_timed()) {
        is_apart = true;
        continue;
      }
      // Where an earlier launch ends later, its end is what the next one comes after.
      end = std::max(end, step.end);
      ends_.push_back(end);
      edge_to_.push_back(is_apart || !step.step->after ? kNone : edge_of(step));
      launches_.push_back(&step);
      is_apart = false;
    }
  }

  std::size_t edge_of(const TimedStep& step) {
    const std::pair launches(*step.step->after, step.step->launch);
    const auto [found, is_new] = numbers_.try_emplace(launches, out_.edges.size());
    if (is_new) out_.edges.push_back({.from = launches.first, .to = launches.second});
    return found->second;
  }

  void place(std::size_t launch) {
    for (const TimedBlock& block : launches_[launch]->blocks) {
      if (block.multiprocessor >= places_.size()) places_.resize(block.multiprocessor + 1);
      SmWork& place = places_[block.multiprocessor];
      if (block.waited()) place.work.push_back({block.begin, block.wait_begin});
      place.work.push_back({block.free(), block.end});
      if (place.free.empty() || place.free.back().first != launch) {
        place.free.emplace_back(launch, block.free());
      } else {
        place.free.back().second = std::min(place.free.back().second, block.free());
      }
    }
  }

  void add_times(std::size_t k) {
    if (edge_to_[k] == kNone) return;
    EdgeCost& edge = out_.edges[edge_to_[k]];
    const TimedStep &before = *launches_[k - 1], &after = *launches_[k];
    ++edge.executions;
    if (after.step->early) ++edge.early;
    edge.overlap += std::max(before.end - after.begin, 0.0);
    edge.gap += std::max(after.begin - before.end, 0.0);
    edge.wait += mean_of_waiting(
        after, [](const TimedBlock& block) { return block.wait_end - block.wait_begin; });
    edge.early_work += mean_of_waiting(
        after, [](const TimedBlock& block) { return block.wait_begin - block.begin; });
    if (before.trigger >= 0) {
      ++edge.triggered;
      edge.lead += before.end - before.trigger;
    }
    edge.tail += before.end - median_end(before);
  }

  // Calls `add` for each time in which nothing works there.
  template <typename Add>
  void for_idle(SmWork& place, Add add) const {
    std::ranges::sort(place.work, {}, &Work::begin);
    double end = 0;
    for (const Work& work : place.work) {
      if (work.begin > end) add(end, work.begin);
      end = std::max(end, work.end);
    }
    if (timeline_.end > end) add(end, timeline_.end);
  }

  // Up to the end of a launch, what is idle is so for the edge to it, until its work begins there,
  // and then for the edge from it.
  void add_idle(SmWork& place) {
    std::size_t launch = 0;  // the first that has not ended
    std::size_t free = 0;    // into place.free
    for_idle(place, [&](double begin, double end) {
      out_.idle += end - begin;
      while (begin < end) {
        while (launch < ends_.size() && ends_[launch] <= begin) ++launch;
        if (launch == ends_.size()) return;
        while (free < place.free.size() && place.free[free].first < launch) ++free;
        double from = -std::numeric_limits<double>::infinity();
        if (free < place.free.size() && place.free[free].first == launch) {
          from = place.free[free].second;
        }
        const bool is_before = begin < from;
        const double stop = std::min({end, ends_[launch], is_before ? from : end});
        const std::size_t later = is_before ? launch : launch + 1;
        if (later < edge_to_.size() && edge_to_[later] != kNone) {
          out_.edges[edge_to_[later]].idle += stop - begin;
        }
        begin = stop;
      }
    });
  }

  const RunTimeline& timeline_;
  std::vector<const TimedStep*> launches_;  // that are timed
  std::vector<double> ends_;                // of each and of all before it
  std::vector<std::size_t> edge_to_;        // the edge to each, or kNone
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> numbers_;  // of edges
  std::vector<SmWork> places_;
  EdgeCosts out_;
};

}  // namespace

EdgeCosts count_edge_costs(const RunTimeline& timeline, std::uint32_t multiprocessors) {
  return Counter(timeline, multiprocessors).run();
}

}  // namespace baton::trace
