#include "edges/launch_binder.h"

#include <string_view>
#include <utility>

namespace baton::edges {
namespace {

using Given = overlap::GivenArgument;

// Whether two executions give a parameter the same but for the offset of an address.
bool differ_by_offset(const Given& a, const Given& b) {
  const bool is_address = a.kind == Given::Kind::kMemory || a.kind == Given::Kind::kTensorMap;
  return is_address && a.kind == b.kind && a.memory == b.memory &&
         a.bytes == overlap::kUnknownBytes && b.bytes == overlap::kUnknownBytes;
}

// Whether two of the arguments are addresses of one memory. Places with equal offsets are one
// place, so that a launch which is kept would lose the second one when the offsets part.
bool share_memory(std::span<const Given> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == Given::Kind::kScalar) continue;
    if (arguments[i].kind == Given::Kind::kStruct || arguments[i].kind == Given::Kind::kBytes) {
      return true;
    }
    for (std::size_t k = 0; k < i; ++k) {
      const bool is_address = arguments[k].kind != Given::Kind::kScalar;
      if (is_address && arguments[k].memory == arguments[i].memory) return true;
    }
  }
  return false;
}

}  // namespace

LaunchBinder::Site& LaunchBinder::site_of(const bind::LaunchExecution& execution) {
  Site& site = sites_[execution.launch.number];
  const Dim3& block = execution.config.block;
  if (site.footprint == nullptr) {
    for (std::size_t i = 0; i < execution.launch.args.size(); ++i) {
      site.arguments.push_back(memory_.given(execution, i));
    }
  } else {
    for (const std::uint32_t i : execution.launch.varying_args) {
      const overlap::GivenArgument old =
          std::exchange(site.arguments[i], memory_.given(execution, i));
      if (!differ_by_offset(old, site.arguments[i])) site.bound.reset();
    }
  }
  if (site.footprint == nullptr || !(site.block == block)) {
    site.bound.reset();
    site.footprint = &footprints_.of(execution.step.label, block);
    site.block = block;
  }
  return site;
}

// Most executions of a launch differ from the last one by offsets alone.
overlap::BoundLaunch LaunchBinder::bind(const bind::LaunchExecution& execution) {
  Site& site = site_of(execution);
  const LaunchConfig& config = execution.config;
  if (site.bound && site.grid == config.grid) {
    for (overlap::BoundAccess& access : site.bound->accesses) {
      if (access.argument == overlap::kNoArgument) continue;
      access.offset = site.arguments[access.argument].offset;
    }
    return *site.bound;
  }
  site.bound.reset();
  const overlap::VariableNumber variable = [&](std::string_view name, bool constant) {
    return memory_.variable(execution.step.label, name, constant);
  };
  overlap::BoundLaunch bound = bind(*site.footprint, site.arguments,
                                    {extents_of(config.block), extents_of(config.grid)}, variable);
  bound.number = execution.launch.number;
  if (!share_memory(site.arguments) && !bound.has_wide_places) {
    site.bound = bound;
    site.grid = config.grid;
  }
  return bound;
}

overlap::BoundLaunch LaunchBinder::possible(const bind::PlannedStep& step,
                                            const bind::PlannedLaunch& launch) {
  std::vector<Given> arguments;
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    arguments.push_back(memory_.possible(launch, i));
  }
  const overlap::VariableNumber variable = [&](std::string_view name, bool constant) {
    return memory_.variable(step.label, name, constant);
  };
  // Extents of 0 are those that are not known.
  constexpr overlap::LaunchExtents kAny = {{}, {}};
  overlap::BoundLaunch bound =
      bind(footprints_.of(step.label, Dim3(0, 0, 0)), arguments, kAny, variable);
  bound.number = launch.number;
  return bound;
}

overlap::BoundLaunch LaunchBinder::bind(const overlap::Footprint& footprint,
                                        std::span<const overlap::GivenArgument> arguments,
                                        const overlap::LaunchExtents& extents,
                                        const overlap::VariableNumber& variable) const {
  const auto bind_with = [&](overlap::LoadedValue loaded) {
    return overlap::bind(footprint, arguments, extents.block, extents.grid, variable, loaded);
  };
  overlap::BoundLaunch bound = bind_with(overlap::LoadedValue::kFollowed);
  const bool may_load_addresses = kept_.may_reach(
      bound, [this](overlap::MemoryId id) -> const std::string& { return memory_[id].name; });
  return may_load_addresses ? bind_with(overlap::LoadedValue::kDifference) : bound;
}

}  // namespace baton::edges
