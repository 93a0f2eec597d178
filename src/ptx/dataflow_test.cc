#include "ptx/dataflow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "ptx/dominators.h"

namespace baton::ptx::dataflow_test {
namespace {

constexpr std::uint32_t kRoot[] = {0};
using Bits = std::uint32_t;

VisitOrder order_of(const Edges& graph) {
  return VisitOrder(
      graph.size(), kRoot, [&](std::uint32_t node) -> const auto& { return graph[node]; });
}

TEST(PendingNodes, AreTakenInSweepsOfTheOrder) {
  Edges graph(10000);
  for (std::uint32_t node = 0; node + 1 < graph.size(); ++node) graph[node] = {node + 1};
  const VisitOrder order = order_of(graph);
  PendingNodes pending(order);
  for (const std::uint32_t node : {9999u, 3u, 63u, 64u, 5000u, 3u}) pending.add(node);
  EXPECT_EQ(pending.take(), 3u);
  pending.add(4);  // after the current one: in this sweep
  pending.add(2);  // before it: in the next one
  EXPECT_EQ(pending.take(), 4u);
  EXPECT_EQ(pending.take(), 63u);
  EXPECT_EQ(pending.take(), 64u);
  EXPECT_EQ(pending.take(), 5000u);
  EXPECT_EQ(pending.take(), 9999u);
  EXPECT_FALSE(pending.empty());
  EXPECT_EQ(pending.take(), 2u);
  EXPECT_TRUE(pending.empty());
}

TEST(PendingNodes, ReturnWhatASetWould) {
  std::mt19937 random(11);
  Edges graph(9000);
  const VisitOrder order = order_of(graph);  // by number, but for the root
  PendingNodes pending(order);
  std::set<std::uint32_t> ranks;
  std::uint32_t next = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto node = static_cast<std::uint32_t>(random() % graph.size());
    if (random() % 2 == 0) {
      pending.add(node);
      ranks.insert(order.rank(node));
    } else if (!ranks.empty()) {
      auto at = ranks.lower_bound(next);
      if (at == ranks.end()) at = ranks.begin();
      next = *at + 1;
      ASSERT_EQ(order.rank(pending.take()), *at);
      ranks.erase(at);
    }
    ASSERT_EQ(pending.empty(), ranks.empty());
  }
}

// Sets of 32 elements. An edge adds and removes some, and is taken only where the set has one of
// those that it needs, if it needs any: a monotone transfer that differs from edge to edge.
struct RandomFlow {
  using State = Bits;
  struct Edge {
    std::uint32_t to;
    Bits adds, removes, needs;

    bool is_taken(Bits state) const { return needs == 0 || (state & needs) != 0; }
    Bits through(Bits state) const { return (state & ~removes) | adds; }
  };
  std::vector<std::vector<Edge>> edges;

  static bool join(Bits& into, const Bits& from) {
    const Bits old = into;
    into |= from;
    return into != old;
  }
  template <typename Emit>
  void flow(std::uint32_t node, Bits state, const Emit& emit) const {
    for (const Edge& edge : edges[node]) {
      if (edge.is_taken(state)) emit(edge.to, edge.through(state));
    }
  }

  Edges graph() const {
    Edges out(edges.size());
    for (std::size_t node = 0; node < edges.size(); ++node) {
      for (const Edge& edge : edges[node]) out[node].push_back(edge.to);
    }
    return out;
  }
};

RandomFlow random_flow(std::mt19937& random) {
  const auto few = [&] { return random() & random() & random() & random(); };
  RandomFlow flow;
  flow.edges.resize(1 + random() % 60);
  for (std::size_t k = random() % 120; k-- > 0;) {
    const auto to = static_cast<std::uint32_t>(random() % flow.edges.size());
    const Bits needs = random() % 2 == 0 ? 0 : static_cast<Bits>(few());
    flow.edges[random() % flow.edges.size()].push_back(
        {to, static_cast<Bits>(few()), static_cast<Bits>(few()), needs});
  }
  return flow;
}

struct Fixpoint {
  std::vector<Bits> states;
  std::vector<bool> reached;
};

// Evaluates all nodes, again and again, until nothing changes.
Fixpoint naive_fixpoint(const RandomFlow& flow, Bits seed) {
  Fixpoint out{std::vector<Bits>(flow.edges.size()), std::vector<bool>(flow.edges.size())};
  out.states[0] = seed;
  out.reached[0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t node = 0; node < flow.edges.size(); ++node) {
      if (!out.reached[node]) continue;
      flow.flow(static_cast<std::uint32_t>(node), out.states[node],
                [&](std::uint32_t to, Bits state) {
                  changed |= !out.reached[to] || (state & ~out.states[to]) != 0;
                  out.reached[to] = true;
                  out.states[to] |= state;
                });
    }
  }
  return out;
}

void expect_fixpoint(RandomFlow& flow, const VisitOrder& order, Bits seed) {
  const Fixpoint right = naive_fixpoint(flow, seed);
  DataflowSolver<RandomFlow> solver(flow, order);
  solver.seed(0, seed);
  solver.run();
  for (std::uint32_t node = 0; node < flow.edges.size(); ++node) {
    EXPECT_EQ(solver.is_reached(node), right.reached[node]);
    EXPECT_EQ(solver.state(node), right.states[node]);
  }
}

TEST(DataflowSolver, FindsTheLeastFixpointOfRandomGraphs) {
  std::mt19937 random(12);
  for (int round = 0; round < 500; ++round) {
    RandomFlow flow = random_flow(random);
    expect_fixpoint(flow, order_of(flow.graph()), static_cast<Bits>(random()));
  }
}

TEST(DataflowSolver, FindsItInAnyOrder) {
  std::mt19937 random(13);
  for (int round = 0; round < 200; ++round) {
    RandomFlow flow = random_flow(random);
    // The order of an unrelated graph.
    RandomFlow other = flow;
    for (auto& edges : other.edges) {
      for (auto& edge : edges) {
        edge.to = static_cast<std::uint32_t>(random() % other.edges.size());
      }
    }
    expect_fixpoint(flow, order_of(other.graph()), static_cast<Bits>(random()));
  }
}

// Live registers: what a node reads is alive before it, what it writes is not unless it is read.
struct LiveRegisters {
  using State = Bits;
  const Edges& before;
  std::vector<Bits> reads, writes;

  static bool join(Bits& into, const Bits& from) { return RandomFlow::join(into, from); }
  template <typename Emit>
  void flow(std::uint32_t node, Bits out, const Emit& emit) const {
    for (const std::uint32_t from : before[node]) {
      emit(from, reads[node] | (out & ~writes[node]));
    }
  }
};

TEST(DataflowSolver, RunsBackwardOverTheReversedGraph) {
  std::mt19937 random(14);
  for (int round = 0; round < 200; ++round) {
    const Edges graph = random_flow(random).graph();
    const Edges before = reversed(graph);
    const std::size_t count = graph.size();
    LiveRegisters live{before, std::vector<Bits>(count), std::vector<Bits>(count)};
    for (std::size_t node = 0; node < count; ++node) {
      live.reads[node] = static_cast<Bits>(random() & random() & random());
      live.writes[node] = static_cast<Bits>(random() & random());
    }
    std::vector<Bits> right(count);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t node = 0; node < count; ++node) {
        for (const std::uint32_t to : graph[node]) {
          changed |= RandomFlow::join(right[node], live.reads[to] | (right[to] & ~live.writes[to]));
        }
      }
    }
    std::vector<std::uint32_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    const VisitOrder order(
        count, all, [&](std::uint32_t node) -> const auto& { return before[node]; });
    DataflowSolver<LiveRegisters> solver(live, order);
    for (const std::uint32_t node : all) solver.seed(node, 0);
    solver.run();
    EXPECT_EQ(std::move(solver).states(), right);
  }
}

// A counter that a loop increments: its range grows without end unless it is widened.
struct Counter {
  struct Range {
    std::int64_t least = INT64_MAX, most = INT64_MIN;
    bool operator==(const Range&) const = default;
  };
  using State = Range;
  static constexpr std::uint32_t kPatience = 3;
  std::uint32_t most_changes = 0;

  static bool join(Range& into, const Range& from) {
    const Range old = into;
    into = {std::min(into.least, from.least), std::max(into.most, from.most)};
    return into != old;
  }
  bool widen(Range& into, const Range& from, std::uint32_t changes) {
    most_changes = std::max(most_changes, changes);
    const Range old = into;
    if (!join(into, from)) return false;
    if (changes >= kPatience) {
      if (into.most > old.most) into.most = INT64_MAX;
      if (into.least < old.least) into.least = INT64_MIN;
    }
    return true;
  }
  // 0: begin, 1: head of the loop, 2: body, 3: after the loop.
  template <typename Emit>
  static void flow(std::uint32_t node, const Range& in, const Emit& emit) {
    if (node == 0) emit(1, Range{0, 0});
    if (node == 1) {
      emit(2, Range{in.least,
                    std::min<std::int64_t>(in.most, 999)});  // taken if the value is below 1000
      if (in.most >= 1000) emit(3, Range{std::max<std::int64_t>(in.least, 1000), in.most});
    }
    if (node == 2) emit(1, Range{in.least + 1, in.most + 1});
  }
};

TEST(DataflowSolver, WidensWhatALoopLetsGrow) {
  const Edges graph = {{1}, {2, 3}, {1}, {}};
  const VisitOrder order = order_of(graph);
  Counter counter;
  DataflowSolver<Counter> solver(counter, order);
  solver.seed(0, {});
  solver.run();
  EXPECT_EQ(solver.state(1), (Counter::Range{0, INT64_MAX}));
  EXPECT_EQ(solver.state(2), (Counter::Range{0, 999}));
  EXPECT_EQ(solver.state(3), (Counter::Range{1000, INT64_MAX}));
  EXPECT_LE(counter.most_changes, Counter::kPatience + 1);
}

TEST(UseLists, ListTheReadersOfEachVariable) {
  const std::vector<std::vector<std::uint32_t>> reads = {{2}, {}, {0, 2}, {2, 2}};
  const UseLists users(4, 4, [&](std::uint32_t node, const auto& visit) {
    for (const std::uint32_t variable : reads[node]) visit(variable);
  });
  const auto list = [&](std::uint32_t variable) {
    const auto of = users.of(variable);
    return std::vector<std::uint32_t>(of.begin(), of.end());
  };
  EXPECT_EQ(list(0), (std::vector<std::uint32_t>{2}));
  EXPECT_TRUE(list(1).empty());
  EXPECT_EQ(list(2), (std::vector<std::uint32_t>{0, 2, 3, 3}));
  EXPECT_TRUE(list(3).empty());
}

// Nodes that write a variable from the union of those that they read, and go on to other nodes
// where the result has an element that the edge needs.
struct RandomEquations {
  using Value = Bits;
  using Solver = SparseSolver<RandomEquations>;
  struct Equation {
    std::uint32_t defines = 0;
    std::vector<std::uint32_t> reads;
    Bits adds = 0, removes = 0;
    std::vector<RandomFlow::Edge> next;
  };
  std::vector<Equation> equations;
  std::vector<Bits> values;

  static bool join(Bits& into, const Bits& from) { return RandomFlow::join(into, from); }
  Bits result(std::uint32_t node) const {
    Bits out = 0;
    for (const std::uint32_t read : equations[node].reads) out |= values[read];
    return (out & ~equations[node].removes) | equations[node].adds;
  }
  void evaluate(std::uint32_t node, Solver& solver) const {
    const Bits value = result(node);
    solver.define(equations[node].defines, value);
    for (const RandomFlow::Edge& edge : equations[node].next) {
      if (edge.is_taken(value)) solver.reach(edge.to);
    }
  }
};

TEST(SparseSolver, FindsTheLeastFixpointOfRandomEquations) {
  std::mt19937 random(15);
  for (int round = 0; round < 500; ++round) {
    const RandomFlow flow = random_flow(random);
    const auto count = static_cast<std::uint32_t>(flow.edges.size());
    const std::uint32_t variables = 1 + random() % 20;
    RandomEquations equations;
    for (const auto& edges : flow.edges) {
      RandomEquations::Equation& equation = equations.equations.emplace_back();
      equation.defines = random() % variables;
      for (std::size_t k = random() % 4; k-- > 0;) equation.reads.push_back(random() % variables);
      equation.adds = static_cast<Bits>(random() & random() & random() & random());
      equation.removes = static_cast<Bits>(random() & random());
      equation.next = edges;
    }
    equations.values.resize(variables);
    std::vector<bool> reached(count);
    reached[0] = true;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t node = 0; node < count; ++node) {
        if (!reached[node]) continue;
        const Bits value = equations.result(node);
        changed |= RandomFlow::join(equations.values[equations.equations[node].defines], value);
        for (const RandomFlow::Edge& edge : equations.equations[node].next) {
          if (!edge.is_taken(value) || reached[edge.to]) continue;
          reached[edge.to] = changed = true;
        }
      }
    }
    const std::vector<Bits> right = equations.values;
    equations.values.assign(variables, 0);
    const UseLists users(variables, count, [&](std::uint32_t node, const auto& visit) {
      for (const std::uint32_t variable : equations.equations[node].reads) visit(variable);
    });
    const VisitOrder order = order_of(flow.graph());
    RandomEquations::Solver solver(equations, order, users, equations.values);
    solver.reach(0);
    solver.run();
    EXPECT_EQ(equations.values, right);
    EXPECT_EQ(solver.reached(), reached);
  }
}

// x = 0; loop: x = x + 1
struct GrowingVariable {
  using Value = std::uint64_t;
  std::vector<Value> values = {0, 0};

  static bool join(Value& into, Value from) {
    if (from <= into) return false;
    into = from;
    return true;
  }
  static bool widen(Value& into, Value from, std::uint32_t changes) {
    return join(into, changes >= 4 ? UINT64_MAX : from);
  }
  void evaluate(std::uint32_t node, SparseSolver<GrowingVariable>& solver) const {
    if (node == 0) solver.define(0, 1);
    if (node == 1 && values[0] != UINT64_MAX) solver.define(0, values[0] + 1);
    solver.reach(1);
  }
};

TEST(SparseSolver, WidensAVariableThatGrows) {
  const Edges graph = {{1}, {1}};
  const VisitOrder order = order_of(graph);
  const UseLists users(2, 2, [](std::uint32_t node, const auto& visit) {
    if (node == 1) visit(0);
  });
  GrowingVariable analysis;
  SparseSolver<GrowingVariable> solver(analysis, order, users, analysis.values);
  solver.reach(0);
  solver.run();
  EXPECT_EQ(analysis.values[0], UINT64_MAX);
}

}  // namespace
}  // namespace baton::ptx::dataflow_test
