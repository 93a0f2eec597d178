#include "sim/engine/judge/ordering.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace baton::sim {
namespace {

// The host learns of many things; what is still under way elsewhere must not be gone through each
// time.
constexpr Ordering::Number kMostRaised = 4096;
constexpr std::size_t kMostFound = std::size_t{1} << 16;

bool is_awaited(Ordering::Kind kind) {
  return kind == Ordering::Kind::kTriggered || kind == Ordering::Kind::kBegun;
}

}  // namespace

Ordering& Ordering::instance() {
  static auto& instance = *new Ordering;
  return instance;
}

const Ordering::Node* Ordering::find(Number number) const {
  if (number < first_ || number - first_ >= nodes_.size()) return nullptr;
  return &nodes_[number - first_];
}

Ordering::Number Ordering::add(std::span<const Edge> after, Operation operation, bool is_host) {
  Node& node = nodes_.emplace_back();
  const Number number = first_ + nodes_.size() - 1;
  node.operation = std::move(operation);
  for (const Edge& edge : after) {
    if (edge.from >= first_) node.after.push_back(edge);
  }
  if (!is_host && host_ != 0) node.after.push_back({host_, Kind::kFull});
  for (const Edge& edge : node.after) {
    const Node* from = find(edge.from);
    if (from == nullptr) continue;
    const bool gapless = edge.kind == Kind::kFull && from->floor + 1 == edge.from;
    node.floor = std::max(node.floor, gapless ? edge.from : from->floor);
  }
  if (nodes_.size() > kRemembered) {
    nodes_.pop_front();
    upward_.erase(first_);
    ++first_;
  }
  return number;
}

Ordering::Number Ordering::add(std::span<const Edge> after, Operation operation) {
  std::lock_guard lock(mutex_);
  return add(after, std::move(operation), false);
}

Ordering::Number Ordering::add(std::span<const Edge> after, Operation operation,
                               const Inside& inside) {
  std::lock_guard lock(mutex_);
  // The host may have learned of something since the graph was launched, which the turn need not
  // come after.
  const Number number = add(after, std::move(operation), true);
  nodes_[number - first_].inside = inside;
  return number;
}

Ordering::Number Ordering::conditional_of(Number number) const {
  const Node* node = find(number);
  return node == nullptr ? 0 : node->inside.conditional;
}

// Replaces what is inside of conditionals that the other is not in by these conditionals. Returns
// false if one of the two is inside of the other.
bool Ordering::to_one_level(Number* grid, Number* earlier) const {
  const auto levels = [this](Number number) {
    std::vector<Number> all = {number};
    while ((number = conditional_of(number)) != 0) all.push_back(number);
    return all;
  };
  std::vector<Number> first = levels(*grid), second = levels(*earlier);
  while (first.size() > 1 && second.size() > 1 && first.back() == second.back()) {
    first.pop_back();
    second.pop_back();
  }
  *grid = first.back();
  *earlier = second.back();
  return *grid != *earlier;
}

void Ordering::came_after(Number wait, std::span<const Number> writers) {
  std::lock_guard lock(mutex_);
  if (find(wait) == nullptr) return;
  Node& node = nodes_[wait - first_];
  const auto add_edge = [&](Number writer) {
    if (writer < first_ || writer == wait) return;
    node.after.push_back({writer, Kind::kFull});
    if (writer > wait) upward_.insert(wait);
  };
  for (const Number writer : writers) add_edge(writer);
  if (writers.empty() && host_ != 0) add_edge(host_);
  ++waits_;
}

void Ordering::note_wait(Number grid) {
  std::lock_guard lock(mutex_);
  if (const Node* node = find(grid)) const_cast<Node*>(node)->waited = true;
  ++waits_;
}

void Ordering::note_early_trigger(Number grid) {
  std::lock_guard lock(mutex_);
  if (const Node* node = find(grid)) const_cast<Node*>(node)->early_trigger = true;
  ++waits_;
}

// Goes back from a grid over what is known to have begun, or to be done, before it. A search for
// one operation, which ends when it is found and tells the way: not a dataflow analysis.
struct Ordering::Search {
  struct Step {
    Number number;
    bool done;  // else only known to have begun
  };

  const Ordering& ordering;
  const Number wanted;
  const bool all_wait;
  // Nothing before it leads to `wanted`.
  const Number lowest =
      ordering.upward_.empty() ? wanted : std::min(wanted, *ordering.upward_.begin());
  std::vector<Step> open = {};
  // Where each step was come to from, and whether that took a wait that was not executed.
  struct Origin {
    std::uint64_t from;
    Number missing;
  };
  std::unordered_map<std::uint64_t, Origin> seen = {};

  static std::uint64_t key(const Step& step) { return step.number * 2 + (step.done ? 1 : 0); }

  void push(Step step, const Step& from, Number missing = 0) {
    if (step.number < lowest || (step.number == wanted && !step.done)) return;
    if (!seen.emplace(key(step), Origin{key(from), missing}).second) return;
    open.push_back(step);
  }
  void push_awaited(const Node& node, const Step& from, Number missing = 0) {
    for (const Edge& edge : node.after) {
      if (is_awaited(edge.kind)) push({edge.from, true}, from, missing);
    }
  }
  // What was done, or had begun, when the node began.
  void push_before_start(const Node& node, const Step& from) {
    for (const Edge& edge : node.after) {
      push({edge.from, edge.kind == Kind::kFull}, from);
      const Node* earlier = ordering.find(edge.from);
      if (edge.kind == Kind::kTriggered && earlier != nullptr && !earlier->early_trigger) {
        push_awaited(*earlier, from);
      }
    }
  }
  // Takes the steps after one that is open.
  void go_on(const Node& node, const Step& step) {
    push_before_start(node, step);
    if (!step.done) return;
    if (node.waited) {
      push_awaited(node, step);
    } else if (all_wait) {
      push_awaited(node, step, step.number);
    }
  }
  // Whether it came to `wanted`; `last` is then how.
  bool run(Step* last) {
    while (!open.empty()) {
      const Step step = open.back();
      open.pop_back();
      const Node* node = ordering.find(step.number);
      if (step.number == wanted || (node != nullptr && wanted <= node->floor)) {
        *last = step;
        return true;
      }
      if (node != nullptr) go_on(*node, step);
    }
    return false;
  }
  // Goes everywhere, and stops where all is done. Nothing before `wanted` is looked at, and
  // that much is known.
  Number run_to_floor() {
    Number floor = wanted;
    while (!open.empty()) {
      const Step step = open.back();
      open.pop_back();
      const Node* node = ordering.find(step.number);
      if (node == nullptr) continue;
      floor = std::max(floor, node->floor);
      go_on(*node, step);
    }
    // What is inside of a conditional is done with it.
    const auto is_done = [&](Number number) {
      if (seen.contains(key({number, true}))) return true;
      const Number conditional = ordering.conditional_of(number);
      return conditional != 0 && (conditional <= floor || seen.contains(key({conditional, true})));
    };
    while (is_done(floor + 1)) ++floor;
    return floor;
  }
};

// A grid after a programmatic edge has a floor that does not rise: whether it waits is not known
// when it is submitted. When it is done it is, so that floors rise again from there. Without that,
// every search would go back to the first such grid.
void Ordering::host_learns(Number done) {
  std::lock_guard lock(mutex_);
  const Edge edges[] = {{done, Kind::kFull}, {host_, Kind::kFull}};
  const Number number = host_ = add(edges, {}, true);
  Node& node = nodes_[number - first_];
  if (number - node.floor > kMostRaised) return;
  Search search{*this, node.floor, false};
  search.push_before_start(node, {number, false});
  node.floor = search.run_to_floor();
  if (node.floor + 1 != number) return;
  // All that was ever submitted is done, so nothing will be told of it; it may hold much memory.
  for (Number old = std::max(forgotten_before_, first_); old < number; ++old) {
    nodes_[old - first_].operation = {};
  }
  forgotten_before_ = number;
  upward_.clear();
}

bool Ordering::reaches(Number grid, Number earlier, bool waits, bool all_wait,
                       std::vector<Number>* links) const {
  const Node* node = find(grid);
  if (node == nullptr || earlier < first_ || earlier <= node->floor) return true;
  Search search{*this, earlier, all_wait};
  const Search::Step start{grid, false};
  search.push_before_start(*node, start);
  if (waits) search.push_awaited(*node, start);
  Search::Step last{};
  if (!search.run(&last)) return false;
  if (links == nullptr) return true;
  for (std::uint64_t at = Search::key(last); at != Search::key(start);) {
    const auto& origin = search.seen.at(at);
    if (origin.missing != 0) links->insert(links->begin(), origin.missing);
    at = origin.from;
  }
  return true;
}

Ordering::Relation Ordering::relation(Number grid, Number earlier) const {
  std::lock_guard lock(mutex_);
  if (conditional_of(grid) != 0 || conditional_of(earlier) != 0) {
    if (!to_one_level(&grid, &earlier)) return Relation::kNone;
    const Node* node = find(grid);
    if (node != nullptr && node->inside.conditional != 0 && earlier <= node->inside.turn) {
      return Relation::kBefore;
    }
  }
  // Edges lead to what was submitted later only from such waits.
  const bool may_be_later = !upward_.empty() && *upward_.begin() < grid;
  if (earlier == grid || (earlier > grid && !may_be_later)) return Relation::kNone;
  const Node* node = find(grid);
  if (node == nullptr || earlier < first_ || earlier <= node->floor) return Relation::kBefore;
  // Searches between streams that nothing orders go far back, and are asked for byte by byte.
  if (found_.size() >= kMostFound) found_.clear();
  Found& found = found_[grid << 32 | (earlier & UINT32_MAX)];
  if (found.relation == Relation::kBefore || found.waits == waits_) return found.relation;
  const auto searched = [&] {
    if (reaches(grid, earlier, false, false, nullptr)) return Relation::kBefore;
    return reaches(grid, earlier, true, false, nullptr) ? Relation::kAwaited : Relation::kNone;
  };
  found = {searched(), waits_};
  return found.relation;
}

std::vector<Ordering::Number> Ordering::missing_links(Number grid, Number earlier) const {
  std::lock_guard lock(mutex_);
  std::vector<Number> links;
  if (!to_one_level(&grid, &earlier)) return {};
  if (earlier >= grid || !reaches(grid, earlier, true, true, &links)) return {};
  return links;
}

Ordering::Operation Ordering::operation(Number number) const {
  std::lock_guard lock(mutex_);
  const Node* node = find(number);
  return node == nullptr ? Operation{} : node->operation;
}

int Ordering::device(Number number) const {
  std::lock_guard lock(mutex_);
  const Node* node = find(number);
  return node == nullptr ? -1 : node->operation.device;
}

Ordering::Number Ordering::last() const {
  std::lock_guard lock(mutex_);
  return first_ + nodes_.size() - 1;
}

}  // namespace baton::sim
