#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "baton/error.h"
#include "pdl/footprint/bound.h"
#include "pdl/footprint/footprint.h"
#include "pdl/rewrite/rewrite.h"
#include "pdl/verdict/witnesses.h"

namespace {

using namespace baton::overlap;

// Binds it to one buffer and numbers, and follows its threads.
void launch_all(const Footprint& footprint, const std::array<std::uint32_t, 3>& block) {
  const std::vector<GivenArgument> arguments = {
      GivenArgument::pointer(1), GivenArgument::scalar(7), GivenArgument::scalar(0),
      GivenArgument::tensor_map(2),
      GivenArgument{.kind = GivenArgument::Kind::kStruct, .fields = {{0, 3}}}};
  const VariableNumber variable = [](std::string_view, bool) { return MemoryId{9}; };
  const std::array<std::uint32_t, 3> grid = {2, 1, 1};
  BoundLaunch bound = baton::overlap::bind(footprint, arguments, block, grid, variable);
  refine(bound, arguments, block, grid);
  triggers_early(footprint, arguments, block, grid);
  std::uint64_t steps = 10000;
  const Witnesses found(footprint, arguments, {block, grid}, variable, steps);
  for (const BoundAccess& access : bound.accesses) {
    if (access.memory) found.has(*access.group, *access.memory);
    if (found.meets(*access.group, found, *access.group, true) && !access.group->reads &&
        !access.group->writes) {
      std::abort();
    }
  }
}

// What is rewritten waits on every path, or as it did, and keeps that when it is rewritten again.
void rewrite_all(const std::shared_ptr<const baton::ptx::ParsedModule>& module,
                 TriggerPlace trigger) {
  std::vector<RewriteRequest> requests;
  for (const baton::ptx::Function* kernel : module->entries()) {
    if (!kernel->has_body) continue;
    requests.push_back(
        {kernel, {{EarlyArgument::kConstantMemory, EarlyArgument::kAny}, true}, trigger});
  }
  const Rewriting done = rewrite(module, requests);
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const RewrittenKernel& kernel = done.kernels[k];
    const bool is_kept = kernel.changes.empty();
    if (kernel.obstacle.empty() && kernel.own.empty() && is_kept) std::abort();
    if (!kernel.obstacle.empty() && !(kernel.own.empty() && is_kept)) std::abort();
    if (!kernel.obstacle.empty()) continue;
    const auto& now = done.module == nullptr ? module : done.module;
    const baton::ptx::Function* found = now->function(kernel.kernel);
    const Footprint::Waits waits = read_footprint(now, *found, {}).waits;
    if (kernel.own.empty() ? waits != Footprint::Waits::kAll : waits == Footprint::Waits::kNever) {
      std::abort();
    }
    requests[k].kernel = found;
    const RewrittenKernel again = rewrite(now, {&requests[k], 1}).kernels[0];
    if (!again.obstacle.empty() || again.own.empty()) std::abort();
    for (const Change& change : again.changes) {
      if (change.kind != Change::Kind::kTrigger) std::abort();
    }
  }
}

}  // namespace

// Whatever the PTX is, every kernel has a footprint, and one that keeps to its own rules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto module = baton::ptx::ParsedModule::parse(
        std::string(reinterpret_cast<const char*>(data), size), "input");
    for (const baton::ptx::Function* kernel : module->entries()) {
      if (!kernel->has_body) continue;
      for (const std::array<std::uint32_t, 3>& block :
           {std::array<std::uint32_t, 3>{}, {128, 1, 1}, {8, 8, 4}}) {
        const Footprint found = read_footprint(module, *kernel, block);
        const bool waits = found.waits_for_certain({});
        if (waits && found.waits == Footprint::Waits::kNever) std::abort();
        for (const AccessGroup& access : found.accesses) {
          if (!(access.reads || access.writes) || access.operations.empty()) std::abort();
          const bool after = access.order == Order::kAfter;
          if (after && found.waits == Footprint::Waits::kNever) std::abort();
        }
        launch_all(found, block);
      }
    }
    for (const TriggerPlace trigger : {TriggerPlace::kNowhere, TriggerPlace::kBehindLoads,
                                       TriggerPlace::kAtExits, TriggerPlace::kAtTop}) {
      rewrite_all(module, trigger);
    }
  } catch (const baton::Error& error) {
    if (error.code() != baton::ErrorCode::kInvalidInput) std::abort();
  }
  return 0;
}
