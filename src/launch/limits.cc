#include "launch/limits.h"

#include "base/error.h"
#include "base/text.h"

namespace baton::launch {
namespace {

constexpr char kAxes[] = {'x', 'y', 'z'};

std::array<std::uint32_t, 3> extents(const Dim3& extent) {
  return {extent.x, extent.y, extent.z};
}

bool is_fixed(const std::array<std::uint32_t, 3>& extent) {
  return extent[0] != 0;
}

template <typename... Args>
Error limit_error(fmt::format_string<Args...> format, Args&&... args) {
  return error(ErrorCode::kLimit, format, std::forward<Args>(args)...);
}

// One axis of a grid or block against its limit.
std::optional<Error> broken_axis(const std::string& kernel, const char* what, const char* unit,
                                 const Dim3& extent, const std::uint32_t (&limit)[3],
                                 const std::string& device) {
  const auto axes = extents(extent);
  for (int i = 0; i < 3; ++i) {
    if (axes[i] == 0) {
      return limit_error("kernel {}: the {} {} has no {} along {}; the smallest extent is 1",
                         kernel, what, to_string(extent), unit, kAxes[i]);
    }
    if (axes[i] > limit[i]) {
      return limit_error("kernel {}: the {} {} has {} {} along {}, {} allows {}", kernel, what,
                         to_string(extent), axes[i], unit, kAxes[i], device, limit[i]);
    }
  }
  return std::nullopt;
}

std::optional<Error> broken_block(const std::string& name, const ResolvedKernel& kernel,
                                  const DeviceLimits& limits, const Dim3& block,
                                  const std::string& device) {
  const std::uint64_t threads = block.count();
  if (threads > limits.threads_per_block) {
    return limit_error("kernel {}: the block {} has {} threads, {} allows {}", name,
                       to_string(block), threads, device, limits.threads_per_block);
  }
  if (threads > kernel.max_threads()) {
    return limit_error(
        "kernel {}: the block {} has {} threads, the kernel allows {} on {} (it uses {} registers "
        "a "
        "thread of {} a block, or was compiled for fewer threads)",
        name, to_string(block), threads, kernel.max_threads(), device, kernel.registers(),
        limits.registers_per_block);
  }
  const auto& required = kernel.required_block();
  if (is_fixed(required) && extents(block) != required) {
    return limit_error("kernel {}: the block is {}, the kernel was compiled for ({}, {}, {})", name,
                       to_string(block), required[0], required[1], required[2]);
  }
  return std::nullopt;
}

bool divides(const std::array<std::uint32_t, 3>& cluster, const Dim3& grid) {
  const auto axes = extents(grid);
  for (int i = 0; i < 3; ++i) {
    if (cluster[i] != 0 && axes[i] % cluster[i] != 0) return false;
  }
  return true;
}

}  // namespace

bool fits(const ResolvedKernel& kernel, const DeviceLimits& device, const LaunchConfig& config) {
  const Dim3& grid = config.grid;
  const Dim3& block = config.block;
  const auto within = [](std::uint32_t value, std::uint32_t limit) {
    return value - 1 < limit;  // 1 … limit: zero wraps around
  };
  return within(grid.x, device.grid[0]) && within(grid.y, device.grid[1]) &&
         within(grid.z, device.grid[2]) && within(block.x, device.block[0]) &&
         within(block.y, device.block[1]) && within(block.z, device.block[2]) &&
         block.count() <= kernel.max_threads() && config.shared <= kernel.max_dynamic_shared() &&
         (!is_fixed(kernel.required_block()) || extents(block) == kernel.required_block()) &&
         (!is_fixed(kernel.required_cluster()) || divides(kernel.required_cluster(), grid));
}

std::optional<Error> broken_limit(const KernelState& kernel, const LaunchConfig& config) {
  const ResolvedKernel& resolved = kernel.resolved();
  const DeviceLimits& limits = kernel.device.limits();
  const std::string& device = kernel.device.spec();
  const std::string& name = kernel.facts.name;
  if (auto broken = broken_axis(name, "grid", "blocks", config.grid, limits.grid, device)) {
    return broken;
  }
  if (auto broken = broken_axis(name, "block", "threads", config.block, limits.block, device)) {
    return broken;
  }
  if (auto broken = broken_block(name, resolved, limits, config.block, device)) return broken;
  const auto& cluster = resolved.required_cluster();
  if (is_fixed(cluster) && !divides(cluster, config.grid)) {
    return limit_error(
        "kernel {}: the grid {} is not divisible by the cluster ({}, {}, {}) that the kernel was "
        "compiled for",
        name, to_string(config.grid), cluster[0], cluster[1], cluster[2]);
  }
  if (config.shared > resolved.max_dynamic_shared()) {
    return limit_error(
        "kernel {}: {} bytes of dynamic and {} of static shared memory make {}, {} allows a block "
        "{}: at most {} dynamic",
        name, config.shared, resolved.static_shared(),
        std::uint64_t{config.shared} + resolved.static_shared(), device,
        limits.shared_per_block_optin, resolved.max_dynamic_shared());
  }
  return std::nullopt;
}

std::string to_string(const Dim3& extent) {
  return fmt::format("({}, {}, {})", extent.x, extent.y, extent.z);
}

}  // namespace baton::launch
