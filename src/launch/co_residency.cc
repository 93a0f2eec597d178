#include "launch/co_residency.h"

#include <cuda.h>

#include <algorithm>

namespace baton::launch {
namespace {

std::uint64_t less(std::uint64_t from, std::uint64_t taken) {
  return from - std::min(from, taken);
}

}  // namespace

chip::Multiprocessor multiprocessor_of(const Device& device) {
  const auto attribute = [&](CUdevice_attribute id) {
    return static_cast<std::uint32_t>(device.attribute(id));
  };
  const DeviceLimits& limits = device.limits();
  chip::Multiprocessor out = chip::nearest(device.architecture()).multiprocessor;
  out.blocks = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  out.threads = limits.threads_per_multiprocessor;
  out.warp_size = limits.warp_size;
  out.registers = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  out.shared = limits.shared_per_multiprocessor;
  out.reserved_shared = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return out;
}

chip::BlockNeeds needs_of_block(const Kernel& kernel, const LaunchConfig& config) {
  const auto attribute = [&](CUfunction_attribute id) {
    return static_cast<std::uint32_t>(kernel.attribute(id));
  };
  return {config.block.count(), attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
          std::uint64_t{config.shared} + attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)};
}

Held held_of(std::uint64_t grid, std::uint32_t alone, std::uint32_t multiprocessors) {
  const auto at_most = [&](std::uint64_t blocks) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, alone));
  };
  return {at_most(grid / multiprocessors), at_most((grid + multiprocessors - 1) / multiprocessors)};
}

std::optional<SharedRange> even_range(const chip::Multiprocessor& multiprocessor,
                                      std::span<const Standing> fewest,
                                      std::span<const Standing> most, const chip::BlockNeeds& more,
                                      std::uint32_t share) {
  const std::uint32_t fit = fit_beside(multiprocessor, most, more).blocks;
  if (fit == 0 || fit_beside(multiprocessor, fewest, more).blocks <= share) return std::nullopt;
  const auto left = [&](std::span<const Standing> there) {
    return chip::free_resources(multiprocessor, there).shared;
  };
  // Of what a block then takes, which is what it asks for and what is reserved.
  const std::uint64_t unit = multiprocessor.shared_unit;
  const std::uint64_t least = left(fewest) / (share + std::uint64_t{1}) / unit * unit + unit;
  const std::uint64_t greatest = left(most) / std::min(fit, share) / unit * unit;
  return SharedRange{less(least, multiprocessor.reserved_shared),
                     less(greatest, multiprocessor.reserved_shared)};
}

}  // namespace baton::launch
