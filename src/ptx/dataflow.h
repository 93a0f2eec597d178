#pragma once

// Dataflow analyses by fixpoint iteration. An analysis gives a lattice and a monotone transfer
// function. The solvers evaluate nodes in reverse post-order until nothing changes. The result is
// the least fixpoint, in whatever order the nodes are visited, if the analysis does not widen.
//
//  - DataflowSolver keeps one state for each node of a graph: a block, or an operation. A backward
//    analysis passes the reversed graph.
//  - SparseSolver keeps one value for each variable and evaluates the nodes that read it. Only
//    nodes that are reached count, so a branch whose condition is known takes one edge.
//
// A lattice of infinite height needs `widen`. The solvers call it in place of `join` where a state
// or a value can grow without end, with the number of times that it has changed.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "ptx/traversal.h"

namespace baton::ptx {

// A set of nodes that are to be evaluated. It returns them in sweeps along a VisitOrder: a node
// that is added before the current one waits for the next sweep.
class PendingNodes {
 public:
  // The order must outlive it.
  explicit PendingNodes(const VisitOrder& order)
      : order_(order), words_(order.size() / 64 + 1), groups_(words_.size() / 64 + 1) {}

  bool empty() const { return count_ == 0; }

  void add(std::uint32_t node) {
    const std::size_t rank = order_.rank(node);
    if (!set(words_, rank)) return;
    set(groups_, rank / 64);
    ++count_;
  }

  // Removes the next node. The set must not be empty.
  std::uint32_t take() {
    std::size_t rank = find(next_);
    if (rank == kNone) rank = find(0);
    next_ = rank + 1;
    clear(words_, rank);
    if (words_[rank / 64] == 0) clear(groups_, rank / 64);
    --count_;
    return order_.node(static_cast<std::uint32_t>(rank));
  }

 private:
  using Bits = std::vector<std::uint64_t>;
  static constexpr std::size_t kNone = SIZE_MAX;

  // Whether the bit was not set before.
  static bool set(Bits& bits, std::size_t at) {
    const std::uint64_t old = bits[at / 64];
    bits[at / 64] = old | std::uint64_t{1} << at % 64;
    return bits[at / 64] != old;
  }
  static void clear(Bits& bits, std::size_t at) { bits[at / 64] &= ~(std::uint64_t{1} << at % 64); }

  // The first bit that is set from `from` on in one word; kNone where there is none.
  static std::size_t find_in_word(const Bits& bits, std::size_t from) {
    if (from / 64 >= bits.size()) return kNone;
    const std::uint64_t left = bits[from / 64] >> from % 64;
    return left == 0 ? kNone : from + static_cast<std::size_t>(__builtin_ctzll(left));
  }

  std::size_t find(std::size_t from) const {
    if (const std::size_t found = find_in_word(words_, from); found != kNone) return found;
    for (std::size_t word = from / 64 + 1; word < words_.size(); word = (word / 64 + 1) * 64) {
      const std::size_t found = find_in_word(groups_, word);
      if (found != kNone) return find_in_word(words_, found * 64);
    }
    return kNone;
  }

  const VisitOrder& order_;
  Bits words_;   // by rank: whether the node is in the set
  Bits groups_;  // by word: whether it is not 0
  std::size_t count_ = 0;
  std::size_t next_ = 0;  // the rank after the last one that was taken
};

// An analysis has
//   using State = ...;                                 the default is the least state
//   bool join(State& into, const State& from);         whether `into` changed
//   void flow(std::uint32_t node, const State& state, Emit emit);
// and may have
//   bool widen(State& into, const State& from, std::uint32_t changes);
// `flow` calls `emit(to, state)` for each edge that can be taken, with the state at its end: the
// edges of a branch may get different states, or none. `widen` joins along edges that close a loop.
template <typename Analysis>
class DataflowSolver {
 public:
  using State = typename Analysis::State;

  // The analysis and the order must outlive it.
  DataflowSolver(Analysis& analysis, const VisitOrder& order)
      : analysis_(analysis),
        order_(order),
        pending_(order),
        states_(order.size()),
        reached_(order.size()) {
    if constexpr (kWidens) changes_.resize(order.size());
  }

  // Joins a state into that of a node, which is reached by that.
  void seed(std::uint32_t node, const State& state) {
    if (analysis_.join(states_[node], state) || !reached_[node]) enqueue(node);
  }

  void run() {
    while (!pending_.empty()) {
      const std::uint32_t node = pending_.take();
      analysis_.flow(node, states_[node], [&](std::uint32_t to, const State& state) {
        const bool changed = merge(node, to, state);
        if (changed || !reached_[to]) enqueue(to);
      });
    }
  }

  const State& state(std::uint32_t node) const { return states_[node]; }
  std::vector<State> states() && { return std::move(states_); }  // by node
  bool is_reached(std::uint32_t node) const { return reached_[node]; }

 private:
  static constexpr bool kWidens = requires(Analysis analysis, State& into, const State& from) {
    analysis.widen(into, from, 0u);
  };

  void enqueue(std::uint32_t node) {
    reached_[node] = true;
    pending_.add(node);
  }

  bool merge(std::uint32_t from, std::uint32_t to, const State& state) {
    if constexpr (kWidens) {
      if (order_.is_retreating(from, to)) {
        const bool changed = analysis_.widen(states_[to], state, changes_[to]);
        changes_[to] += changed ? 1 : 0;
        return changed;
      }
    }
    return analysis_.join(states_[to], state);
  }

  Analysis& analysis_;
  const VisitOrder& order_;
  PendingNodes pending_;
  std::vector<State> states_;           // by node
  std::vector<bool> reached_;           // by node
  std::vector<std::uint32_t> changes_;  // by node, where the analysis widens
};

// By variable: the nodes that read it. Immutable.
class UseLists {
 public:
  UseLists() = default;
  // `each_use(node, visit)` calls `visit(variable)` for what the node reads.
  template <typename EachUse>
  UseLists(std::size_t variables, std::uint32_t nodes, EachUse each_use) : begins_(variables + 2) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      each_use(node, [&](std::uint32_t variable) { ++begins_[variable + 2]; });
    }
    for (std::size_t k = 2; k < begins_.size(); ++k) begins_[k] += begins_[k - 1];
    nodes_.resize(begins_.back());
    // Each list begins at the end of the one before, and grows to its own end.
    for (std::uint32_t node = 0; node < nodes; ++node) {
      each_use(node, [&](std::uint32_t variable) { nodes_[begins_[variable + 1]++] = node; });
    }
  }

  std::span<const std::uint32_t> of(std::uint32_t variable) const {
    return std::span(nodes_).subspan(begins_[variable], begins_[variable + 1] - begins_[variable]);
  }

 private:
  std::vector<std::uint32_t> begins_;  // in nodes_, by variable
  std::vector<std::uint32_t> nodes_;
};

// An analysis has
//   using Value = ...;
//   bool join(Value& into, const Value& from);         whether `into` changed
//   void evaluate(std::uint32_t node, SparseSolver<Analysis>& solver);
// and may have, to be called in place of `join`,
//   bool widen(Value& into, const Value& from, std::uint32_t changes);
// `evaluate` calls `solver.define(variable, value)` for what the node writes, and
// `solver.reach(to)` for each edge that can be taken.
template <typename Analysis>
class SparseSolver {
 public:
  using Value = typename Analysis::Value;

  // `values`: by variable, what each begins with. They are the result, and the analysis reads them
  // meanwhile. All arguments must outlive the solver.
  SparseSolver(Analysis& analysis, const VisitOrder& order, const UseLists& users,
               std::vector<Value>& values)
      : analysis_(analysis),
        users_(users),
        pending_(order),
        values_(values),
        reached_(order.size()) {
    if constexpr (kWidens) changes_.resize(values_.size());
  }

  // The node is evaluated, and again when a variable that it reads changes.
  void reach(std::uint32_t node) {
    if (reached_[node]) return;
    reached_[node] = true;
    pending_.add(node);
  }

  // `value` must not refer to the variable's own.
  void define(std::uint32_t variable, const Value& value) {
    if (!merge(variable, value)) return;
    for (const std::uint32_t user : users_.of(variable)) {
      if (reached_[user]) pending_.add(user);
    }
  }

  void run() {
    for (; !pending_.empty(); ++evaluations_) analysis_.evaluate(pending_.take(), *this);
  }

  const std::vector<bool>& reached() const { return reached_; }  // by node
  std::uint64_t evaluations() const { return evaluations_; }     // of operations

 private:
  static constexpr bool kWidens = requires(Analysis analysis, Value& into, const Value& from) {
    analysis.widen(into, from, 0u);
  };

  bool merge(std::uint32_t variable, const Value& value) {
    if constexpr (kWidens) {
      const bool changed = analysis_.widen(values_[variable], value, changes_[variable]);
      changes_[variable] += changed ? 1 : 0;
      return changed;
    } else {
      return analysis_.join(values_[variable], value);
    }
  }

  Analysis& analysis_;
  const UseLists& users_;
  PendingNodes pending_;
  std::vector<Value>& values_;
  std::vector<bool> reached_;           // by node
  std::vector<std::uint32_t> changes_;  // by variable, where the analysis widens
  std::uint64_t evaluations_ = 0;
};

}  // namespace baton::ptx
