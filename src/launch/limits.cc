#include "launch/limits.h"

#include "image/names/readable_names.h"
#include "launch/attribute_limits.h"

namespace baton::launch {
namespace {

constexpr char kAxes[] = {'x', 'y', 'z'};

// One axis of a grid or block against its limit.
std::optional<Error> broken_axis(const KernelState& kernel, const char* what, const char* unit,
                                 const Dim3& extent, const std::uint32_t (&limit)[3],
                                 const std::string& device) {
  const auto axes = extents(extent);
  for (int i = 0; i < 3; ++i) {
    if (axes[i] == 0) {
      return limit_error(kernel, "the {} {} has no {} along {}; the smallest extent is 1", what,
                         to_string(extent), unit, kAxes[i]);
    }
    if (axes[i] > limit[i]) {
      return limit_error(kernel, "the {} {} has {} {} along {}, {} allows {}", what,
                         to_string(extent), axes[i], unit, kAxes[i], device, limit[i]);
    }
  }
  return std::nullopt;
}

std::optional<Error> broken_block(const KernelState& kernel, const ResolvedKernel& resolved,
                                  const Dim3& block) {
  const DeviceLimits& limits = resolved.device().limits();
  const std::string& device = resolved.device().spec();
  const std::uint64_t threads = block.count();
  if (threads > limits.threads_per_block) {
    return limit_error(kernel, "the block {} has {} threads, {} allows {}", to_string(block),
                       threads, device, limits.threads_per_block);
  }
  if (threads > resolved.max_threads()) {
    const std::uint64_t registers = threads * resolved.registers();
    if (registers > limits.registers_per_block) {
      return limit_error(kernel,
                         "the block {} has {} threads of {} registers, {} together, {} has {} for "
                         "a block; at most {} threads",
                         to_string(block), threads, resolved.registers(), registers, device,
                         limits.registers_per_block, resolved.max_threads());
    }
    return limit_error(kernel,
                       "the block {} has {} threads, the kernel was compiled for at most {} (its "
                       "launch bounds)",
                       to_string(block), threads, resolved.max_threads());
  }
  const auto& required = resolved.required_block();
  if (is_fixed(required) && extents(block) != required) {
    return limit_error(kernel, "the block is {}, the kernel was compiled for ({}, {}, {})",
                       to_string(block), required[0], required[1], required[2]);
  }
  return std::nullopt;
}

}  // namespace

bool fits(const ResolvedKernel& kernel, const LaunchConfig& config) {
  const DeviceLimits& device = kernel.device().limits();
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
         (!is_fixed(kernel.required_cluster()) || divides(kernel.required_cluster(), grid)) &&
         (config.attributes.empty() || attributes_fit(kernel, config));
}

void require_fit(const KernelState& kernel, const ResolvedKernel& resolved,
                 const LaunchConfig& config) {
  if (fits(resolved, config)) [[likely]]
    return;
  if (const auto broken = broken_limit(kernel, resolved, config)) {
    throw image::with_readable_names(*broken);
  }
  throw error(ErrorCode::kInternal, "kernel {}: a config was rejected without a broken limit",
              kernel.facts().name);
}

std::optional<Error> broken_limit(const KernelState& kernel, const ResolvedKernel& resolved,
                                  const LaunchConfig& config) {
  const DeviceLimits& limits = resolved.device().limits();
  const std::string& device = resolved.device().spec();
  if (auto broken = broken_axis(kernel, "grid", "blocks", config.grid, limits.grid, device)) {
    return broken;
  }
  if (auto broken = broken_axis(kernel, "block", "threads", config.block, limits.block, device)) {
    return broken;
  }
  if (auto broken = broken_block(kernel, resolved, config.block)) return broken;
  if (auto broken = broken_shared(kernel, resolved, config.shared)) return broken;
  return broken_attribute(kernel, resolved, config);
}

std::optional<Error> broken_shared(const KernelState& kernel, const ResolvedKernel& resolved,
                                   std::uint32_t shared) {
  if (shared <= resolved.max_dynamic_shared()) return std::nullopt;
  const Device& device = resolved.device();
  return limit_error(
      kernel,
      "{} bytes of dynamic and {} of static shared memory make {}, {} allows a block {}: at most "
      "{} dynamic",
      shared, resolved.static_shared(), std::uint64_t{shared} + resolved.static_shared(),
      device.spec(), device.limits().shared_per_block_optin, resolved.max_dynamic_shared());
}

std::string to_string(const Dim3& extent) {
  return fmt::format("({}, {}, {})", extent.x, extent.y, extent.z);
}

}  // namespace baton::launch
