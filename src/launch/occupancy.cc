#include "base/error.h"
#include "baton/module.h"
#include "launch/limits.h"
#include "launch/native_config.h"
#include "launch/opt_in.h"
#include "launch/submit.h"
#include "runtime/context.h"

namespace baton {
namespace launch {

// The driver counts with the function's opt-ins as they are now, so what the config needs is raised
// first, as its launch would.

std::uint32_t blocks_per_multiprocessor(const KernelState& state, const ResolvedKernel& kernel,
                                        const LaunchConfig& config) {
  opt_in(state, kernel, config);
  const std::uint64_t threads = config.block.count();
  // Also what no int holds.
  if (threads > kernel.max_threads()) return 0;
  ContextGuard guard(kernel.device());
  int blocks = 0;
  BATON_DRIVER_CALL(kernel.device().driver(), cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                    kernel.function(), static_cast<int>(threads), config.shared);
  return static_cast<std::uint32_t>(blocks);
}

std::uint32_t max_active_clusters(const KernelState& state, const ResolvedKernel& kernel,
                                  const LaunchConfig& config) {
  opt_in(state, kernel, config);
  ContextGuard guard(kernel.device());
  const CUlaunchConfig native = native_config(kernel, config, config.attributes.all());
  int clusters = 0;
  BATON_DRIVER_CALL(kernel.device().driver(), cuOccupancyMaxActiveClusters, &clusters,
                    kernel.function(), &native);
  return static_cast<std::uint32_t>(clusters);
}

std::uint32_t max_cluster_size(const KernelState& state, const ResolvedKernel& kernel,
                               const LaunchConfig& config) {
  // Without the opt-in the answer would be of portable sizes only.
  opt_in_to_any_cluster(state, kernel, config);
  ContextGuard guard(kernel.device());
  LaunchConfig without = config;
  without.attributes.remove(AttributeId::kCluster);
  without.attributes.remove(AttributeId::kPreferredCluster);
  const CUlaunchConfig native = native_config(kernel, without, without.attributes.all());
  int blocks = 0;
  BATON_DRIVER_CALL(kernel.device().driver(), cuOccupancyMaxPotentialClusterSize, &blocks,
                    kernel.function(), &native);
  return static_cast<std::uint32_t>(blocks);
}

std::uint64_t max_cooperative_blocks(const KernelState& state, const ResolvedKernel& kernel,
                                     const LaunchConfig& config) {
  if (const std::optional<Dim3> cluster = cluster_of(kernel, config.attributes)) {
    return max_active_clusters(state, kernel, config) * cluster->count();
  }
  const std::uint32_t part = config.stream.part_sms;
  return std::uint64_t{blocks_per_multiprocessor(state, kernel, config)} *
         (part != 0 ? part : kernel.device().limits().multiprocessors);
}

namespace {

// Where the blocks of a launch are, for messages.
std::string place_of(const ResolvedKernel& kernel, const LaunchConfig& config) {
  const std::string& device = kernel.device().spec();
  if (config.stream.part_sms == 0) return device;
  return fmt::format("a part of {} SMs of {}", config.stream.part_sms, device);
}

}  // namespace

std::optional<Error> broken_residency(const KernelState& kernel, const ResolvedKernel& resolved,
                                      const LaunchConfig& config) {
  const std::string device = place_of(resolved, config);
  if (const std::optional<Dim3> cluster = cluster_of(resolved, config.attributes);
      cluster && cluster->count() > 1) {
    const std::uint32_t largest = max_cluster_size(kernel, resolved, config);
    if (cluster->count() > largest) {
      return limit_error(kernel,
                         "the cluster {} has {} blocks, {} allows at most {} (blocks of {} "
                         "threads, {} bytes of dynamic shared memory)",
                         to_string(*cluster), cluster->count(), device, largest,
                         config.block.count(), config.shared);
    }
    if (max_active_clusters(kernel, resolved, config) == 0) {
      return limit_error(kernel,
                         "no cluster {} of blocks of {} threads and {} bytes of dynamic shared "
                         "memory fits on {}",
                         to_string(*cluster), config.block.count(), config.shared, device);
    }
  }
  if (!config.cooperative()) return std::nullopt;
  const std::uint64_t largest = max_cooperative_blocks(kernel, resolved, config);
  if (config.grid.count() <= largest) return std::nullopt;
  return limit_error(kernel,
                     "the cooperative grid {} has {} blocks, {} holds {} at once (blocks of {} "
                     "threads, {} registers a thread, {} bytes of shared memory): the largest grid "
                     "that fits has {}",
                     to_string(config.grid), config.grid.count(), device, largest,
                     config.block.count(), resolved.registers(),
                     std::uint64_t{config.shared} + resolved.static_shared(), largest);
}

}  // namespace launch

std::uint32_t Kernel::blocks_per_multiprocessor(const LaunchConfig& config) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  return launch::blocks_per_multiprocessor(*state_, resolved, config);
}
std::uint32_t Kernel::max_active_clusters(const LaunchConfig& config) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  return launch::max_active_clusters(*state_, resolved, config);
}
std::uint32_t Kernel::max_cluster_size(const LaunchConfig& config) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  return launch::max_cluster_size(*state_, resolved, config);
}
std::uint64_t Kernel::max_cooperative_blocks(const LaunchConfig& config) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  return launch::max_cooperative_blocks(*state_, resolved, config);
}

}  // namespace baton
