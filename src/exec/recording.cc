#include "exec/recording.h"

#include "exec/walker.h"

namespace baton::exec {
namespace {

// Longer runs are not kept: with this many steps, of some 64 bytes, and plans, of some 2 KiB.
constexpr std::size_t kMostSteps = std::size_t{1} << 18;
constexpr std::size_t kMostPlans = std::size_t{1} << 13;

class StepFinder : public Walker {
 public:
  StepFinder(Plan& plan, const std::vector<std::int64_t>& symbols, std::uint64_t number)
      : Walker(plan, symbols), number_(number) {
    walk(plan.steps);
  }
  std::string found() && { return std::move(found_); }

 private:
  void visit(PlannedStep&) override {
    if (visited_++ == number_) found_ = indexes();
  }

  const std::uint64_t number_;
  std::uint64_t visited_ = 0;
  std::string found_;
};

}  // namespace

void Recording::begin(const Plan& plan, bool on) {
  whole_ = false;
  open_ = on;
  steps_.clear();
  plans_.clear();
  settled_.assign(plan.launches, {});
}

void Recording::end() {
  whole_ = open_;
  open_ = false;
}

void Recording::add(RecordedStep step) {
  if (!open_) return;
  if (steps_.size() < kMostSteps && plans_.size() <= kMostPlans) {
    steps_.push_back(step);
    return;
  }
  open_ = false;
  steps_ = {};
  plans_.clear();
}

void Recording::add(const Place& place, const PlannedLaunch& launch) {
  if (open_) add({place, plan_of(place, launch)});
}

void Recording::add(const Place& place, const PlannedCopy& copy, const CopyValues& values) {
  add({place, RecordedCopy{&copy, values}});
}

void Recording::add(const Place& place, const PlannedFill& fill, std::uint64_t bits) {
  add({place, RecordedFill{&fill, bits}});
}

void Recording::add_nothing(const Place& place) {
  add({place, NoWork{}});
}

LaunchPlan* Recording::plan_of(const Place& place, const PlannedLaunch& launch) {
  LaunchPlan** const settled =
      launch.varies ? nullptr : &settled_[launch.number][place.programmatic ? 1 : 0];
  if (settled != nullptr && *settled != nullptr) return *settled;
  LaunchPlan* const plan = &plans_.emplace_back(*launch.sent);
  if (settled != nullptr) *settled = plan;
  return plan;
}

std::string indexes_of_step(Plan& plan, const std::vector<std::int64_t>& symbols,
                            std::uint64_t number) {
  return StepFinder(plan, symbols, number).found();
}

}  // namespace baton::exec
