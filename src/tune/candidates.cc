#include "tune/candidates.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text/text.h"
#include "bind/binding.h"
#include "peer/peer_rank.h"
#include "program/expression/bound_expression.h"
#include "program/step_launches.h"

namespace baton::tuning {
namespace {

// The places of a trigger, and none. kAuto is kWait where a launch may start early.
constexpr RewriteMode kPlaces[] = {RewriteMode::kOff, RewriteMode::kWait, RewriteMode::kLoads,
                                   RewriteMode::kExit, RewriteMode::kTop};

// The choice that the list has for a name, or `otherwise`.
template <typename Value>
Value value_of(const std::vector<std::pair<std::string, Value>>& list, const std::string& name,
               Value otherwise) {
  for (const auto& [key, value] : list) {
    if (key == name) return value;
  }
  return otherwise;
}

template <typename Value>
void set_value(std::vector<std::pair<std::string, Value>>& list, const std::string& name,
               Value value, Value otherwise) {
  std::erase_if(list, [&](const auto& item) { return item.first == name; });
  if (value != otherwise) list.emplace_back(name, value);
}

// Kernels that are launched, and whose rewrite the program leaves open.
std::vector<std::string> open_kernels(const Program& program) {
  std::vector<std::string> names;
  for_each_launch(program.steps(), [&](const LaunchStep& step) {
    const ProgramKernel* kernel = program.kernel(step.kernel);
    const bool is_known = std::ranges::find(names, step.kernel) != names.end();
    if (kernel->rewrite || is_known) return;
    if (kernel->origin == KernelOrigin::kCubin || kernel->origin == KernelOrigin::kFatbin) return;
    names.push_back(step.kernel);
  });
  return names;
}

TuneVariant with_rewrite(TuneVariant variant, const std::string& kernel, RewriteMode mode) {
  set_value(variant.choices.rewrites, kernel, mode, RewriteMode::kOff);
  std::ranges::sort(variant.choices.rewrites);
  return variant;
}

// A collective of the program, with what is known before it is bound.
struct Collective {
  bool is_open = false;    // an all-reduce whose executor the program leaves open
  bool for_peers = false;  // kernels between peers can execute it
  bool in_condition = false;
  std::optional<CollectiveExecutor> by = {};
};

bool is_of_all(const Program& program, const std::string& group,
               const std::vector<BoundSymbol>& symbols) {
  return bind::bind_group(program, group, symbols).ranks ==
         bind::bind_group(program, {}, symbols).ranks;
}

// By number.
std::vector<Collective> collectives_of(const Program& program,
                                       const std::vector<BoundSymbol>& symbols) {
  std::vector<Collective> all;
  for_each_collective(program.steps(), [&](const CollectiveStep& step, bool in_condition) {
    const bool is_all_reduce = step.kind == CollectiveKind::kAllReduce;
    all.push_back({.is_open = is_all_reduce && !step.by,
                   .for_peers = is_all_reduce &&
                                peer::PeerRank::takes(program.buffer(step.buffer.buffer)->dtype) &&
                                is_of_all(program, step.group, symbols),
                   .in_condition = in_condition,
                   .by = step.by});
  });
  return all;
}

// What executes a collective in a variant. `untuned`: what executes those that do not say it.
CollectiveExecutor executor_of(std::uint32_t number, const Collective& collective,
                               const TuneVariant& variant, CollectiveExecutor untuned) {
  for (const auto& [chosen, by] : variant.choices.collectives) {
    if (chosen == number) return by;
  }
  return collective.by.value_or(untuned);
}

// The if and while of a graph take kernels between peers alone.
bool is_for_graphs(const Collective& collective, CollectiveExecutor by) {
  return !collective.in_condition || (collective.for_peers && by == CollectiveExecutor::kPeer);
}

// `collectives`: none where nothing is exchanged. `untuned`: as executor_of takes it.
MakePass executor_pass(const std::vector<Collective>& collectives, CollectiveExecutor untuned) {
  return [=](const TuneVariant& best, const EarlyLaunches&) {
    Pass pass{"executor", {}};
    TuneVariant other = best;
    other.executor =
        best.executor == ExecutorKind::kStream ? ExecutorKind::kGraph : ExecutorKind::kStream;
    for (std::uint32_t number = 0; number < collectives.size(); ++number) {
      const Collective& each = collectives[number];
      if (other.executor == ExecutorKind::kGraph &&
          !is_for_graphs(each, executor_of(number, each, best, untuned))) {
        return pass;
      }
    }
    pass.variants.push_back(std::move(other));
    return pass;
  };
}

MakePass common_rewrite_pass(const std::vector<std::string>& kernels) {
  return [kernels](const TuneVariant& best, const EarlyLaunches&) {
    Pass pass{"rewrite of all kernels", {}};
    for (const RewriteMode mode : kPlaces) {
      TuneVariant other = best;
      for (const std::string& kernel : kernels) other = with_rewrite(other, kernel, mode);
      if (!(other == best)) pass.variants.push_back(std::move(other));
    }
    return pass;
  };
}

MakePass rewrite_pass(const std::string& kernel) {
  return [kernel](const TuneVariant& best, const EarlyLaunches&) {
    Pass pass{"rewrite of " + printable(kernel), {}};
    for (const RewriteMode mode : kPlaces) {
      TuneVariant other = with_rewrite(best, kernel, mode);
      if (!(other == best)) pass.variants.push_back(std::move(other));
    }
    return pass;
  };
}

MakePass parameter_pass(std::string symbol, std::vector<std::int64_t> values,
                        std::int64_t untuned) {
  return [=](const TuneVariant& best, const EarlyLaunches&) {
    Pass pass{symbol, {}};
    for (const std::int64_t value : values) {
      TuneVariant other = best;
      set_value(other.choices.parameters, symbol, value, untuned);
      std::ranges::sort(other.choices.parameters);
      if (!(other == best)) pass.variants.push_back(std::move(other));
    }
    return pass;
  };
}

// Launches whose edges a search may make full, by number: kernel, or empty for a fixed edge.
std::vector<std::string> open_launches(const Program& program) {
  std::vector<std::string> kernels;
  for_each_launch(program.steps(), [&](const LaunchStep& step) {
    const bool is_fixed = step.attributes.pdl || program.kernel(step.kernel)->launch.pdl;
    kernels.push_back(is_fixed ? std::string() : step.kernel);
  });
  return kernels;
}

MakePass placement_pass(const std::string& kernel, const std::vector<std::string>& launches) {
  return [=](const TuneVariant& best, const EarlyLaunches& early) {
    Pass pass{"placement of " + printable(kernel), {}};
    bool starts_early = false;
    for (std::size_t number = 0; number < launches.size(); ++number) {
      starts_early |= launches[number] == kernel && early[number];
    }
    std::vector<std::string> even = best.choices.even;
    const bool is_even = std::erase(even, kernel) != 0;
    if (!is_even && !starts_early) return pass;
    if (!is_even) even.push_back(kernel);
    TuneVariant other = best;
    other.choices.even = std::move(even);
    std::ranges::sort(other.choices.even);
    pass.variants.push_back(std::move(other));
    return pass;
  };
}

MakePass edge_pass(std::uint32_t launch) {
  return [launch](const TuneVariant& best, const EarlyLaunches& early) {
    Pass pass{fmt::format("edge to launch {}", launch), {}};
    std::vector<std::uint32_t> full = best.choices.full_edges;
    const bool is_full = std::erase(full, launch) != 0;
    if (!is_full && !early[launch]) return pass;
    if (!is_full) full.push_back(launch);
    TuneVariant other = best;
    other.choices.full_edges = std::move(full);
    std::ranges::sort(other.choices.full_edges);
    pass.variants.push_back(std::move(other));
    return pass;
  };
}

// `executors`: the one of the untuned program first.
MakePass collective_pass(std::uint32_t number, const Collective& collective,
                         const std::vector<CollectiveExecutor>& executors) {
  return [=](const TuneVariant& best, const EarlyLaunches&) {
    Pass pass{fmt::format("collective {}", number), {}};
    for (const CollectiveExecutor by : executors) {
      const bool is_chosen = by != executors.front();
      if (is_chosen && by == CollectiveExecutor::kPeer && !collective.for_peers) continue;
      if (best.executor == ExecutorKind::kGraph && !is_for_graphs(collective, by)) continue;
      TuneVariant other = best;
      auto& chosen = other.choices.collectives;
      std::erase_if(chosen, [&](const auto& each) { return each.first == number; });
      if (is_chosen) chosen.emplace_back(number, by);
      std::ranges::sort(chosen);
      if (!(other == best)) pass.variants.push_back(std::move(other));
    }
    return pass;
  };
}

void add_parameters(const Program& program, const Freedom& freedom, std::vector<MakePass>& all) {
  NameSlots names;
  std::vector<std::int64_t> slots;
  for (const BoundSymbol& symbol : freedom.symbols) {
    names.push(symbol.name);
    slots.push_back(symbol.value);
  }
  for (const TuneParameter& parameter : program.tune_parameters()) {
    const auto symbol = std::ranges::find(freedom.symbols, parameter.symbol, &BoundSymbol::name);
    if (symbol->source != bind::kProgramSource) continue;
    std::vector<std::int64_t> values = {symbol->value};
    for (const Expression& value : parameter.values) {
      const std::int64_t number = BoundExpression(value.code(), names).evaluate(slots);
      if (std::ranges::find(values, number) == values.end()) values.push_back(number);
    }
    all.push_back(parameter_pass(parameter.symbol, values, symbol->value));
  }
}

bool has_open_placement(const Program& program, const std::string& kernel) {
  bool is_open = !program.kernel(kernel)->launch.placement;
  for_each_launch(program.steps(), [&](const LaunchStep& step) {
    if (step.kernel == kernel && step.attributes.placement) is_open = false;
  });
  return is_open;
}

}  // namespace

std::vector<MakePass> passes_of(const Program& program, const Freedom& freedom) {
  std::vector<MakePass> all;
  // Without executors nothing is exchanged.
  std::vector<Collective> collectives;
  CollectiveExecutor untuned = CollectiveExecutor::kAuto;
  if (!freedom.executors.empty()) {
    collectives = collectives_of(program, freedom.symbols);
    untuned = freedom.executors.front();
  }
  if (freedom.executor) all.push_back(executor_pass(collectives, untuned));
  for (std::uint32_t number = 0; number < collectives.size(); ++number) {
    if (freedom.executors.size() == 1 || !collectives[number].is_open) continue;
    all.push_back(collective_pass(number, collectives[number], freedom.executors));
  }
  const std::vector<std::string> kernels = open_kernels(program);
  const std::vector<std::string> launches = open_launches(program);
  if (freedom.edges && !kernels.empty()) all.push_back(common_rewrite_pass(kernels));
  add_parameters(program, freedom, all);
  if (!freedom.edges) return all;
  if (kernels.size() > 1) {
    for (const std::string& kernel : kernels) all.push_back(rewrite_pass(kernel));
  }
  std::vector<std::string> placed;
  for (const std::string& kernel : launches) {
    if (kernel.empty() || std::ranges::find(placed, kernel) != placed.end()) continue;
    placed.push_back(kernel);
    if (has_open_placement(program, kernel)) all.push_back(placement_pass(kernel, launches));
  }
  for (std::uint32_t launch = 0; launch < launches.size(); ++launch) {
    if (!launches[launch].empty()) all.push_back(edge_pass(launch));
  }
  return all;
}

}  // namespace baton::tuning
