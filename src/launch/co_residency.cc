#include "launch/co_residency.h"

#include <cuda.h>

#include <algorithm>
#include <utility>

namespace baton::launch {
namespace {

constexpr std::uint64_t kRegisterUnit = 256;
constexpr std::uint64_t kPartitions = 4;
constexpr std::uint64_t kSharedUnit = 128;

std::uint64_t ceil_div(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

std::uint64_t less(std::uint64_t from, std::uint64_t taken) {
  return from - std::min(from, taken);
}

std::uint64_t registers_of_warp(const Multiprocessor& multiprocessor, const BlockNeeds& needs) {
  const std::uint64_t registers =
      std::max<std::uint64_t>(needs.registers, 1) * multiprocessor.warp_size;
  return ceil_div(registers, kRegisterUnit) * kRegisterUnit;
}

std::uint64_t shared_of_block(const Multiprocessor& multiprocessor, const BlockNeeds& needs) {
  return ceil_div(needs.shared + multiprocessor.reserved_shared, kSharedUnit) * kSharedUnit;
}

// What blocks take of a multiprocessor.
struct Taken {
  std::uint64_t blocks = 0, warps = 0;
  std::uint64_t registers = 0;  // of a partition
  std::uint64_t shared = 0;
};

Taken taken(const Multiprocessor& multiprocessor, std::span<const Standing> there) {
  Taken sum;
  for (const Standing& each : there) {
    const std::uint64_t warps = each.count * ceil_div(each.needs.threads, multiprocessor.warp_size);
    sum.blocks += each.count;
    sum.warps += warps;
    sum.registers += ceil_div(warps, kPartitions) * registers_of_warp(multiprocessor, each.needs);
    sum.shared += each.count * shared_of_block(multiprocessor, each.needs);
  }
  return sum;
}

}  // namespace

Multiprocessor Multiprocessor::of(const Device& device) {
  const auto attribute = [&](CUdevice_attribute id) {
    return static_cast<std::uint32_t>(device.attribute(id));
  };
  const DeviceLimits& limits = device.limits();
  Multiprocessor out;
  out.blocks = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  out.threads = limits.threads_per_multiprocessor;
  out.warp_size = limits.warp_size;
  out.registers = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  out.shared = limits.shared_per_multiprocessor;
  out.reserved_shared = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  return out;
}

BlockNeeds BlockNeeds::of(const Kernel& kernel, const LaunchConfig& config) {
  const auto attribute = [&](CUfunction_attribute id) {
    return static_cast<std::uint32_t>(kernel.attribute(id));
  };
  return {config.block.count(), attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
          std::uint64_t{config.shared} + attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)};
}

Fit fit_beside(const Multiprocessor& multiprocessor, std::span<const Standing> there,
               const BlockNeeds& more) {
  const Taken held = taken(multiprocessor, there);
  const std::uint64_t warps =
      std::max<std::uint64_t>(ceil_div(more.threads, multiprocessor.warp_size), 1);
  const std::uint64_t warps_by_registers =
      less(multiprocessor.registers / kPartitions, held.registers) /
      registers_of_warp(multiprocessor, more) * kPartitions;
  const std::uint64_t all_warps = multiprocessor.threads / multiprocessor.warp_size;
  const std::pair<std::uint64_t, std::string_view> limits[] = {
      {warps_by_registers / warps, "registers"},
      {less(all_warps, held.warps) / warps, "threads"},
      {less(multiprocessor.shared, held.shared) / shared_of_block(multiprocessor, more),
       "shared memory"},
      {less(multiprocessor.blocks, held.blocks), "places for blocks"}};
  const auto& [blocks, limit] =
      *std::min_element(std::begin(limits), std::end(limits),
                        [](const auto& a, const auto& b) { return a.first < b.first; });
  return {static_cast<std::uint32_t>(blocks), limit};
}

Held held_of(std::uint64_t grid, std::uint32_t alone, std::uint32_t multiprocessors) {
  const auto at_most = [&](std::uint64_t blocks) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(blocks, alone));
  };
  return {at_most(grid / multiprocessors), at_most(ceil_div(grid, multiprocessors))};
}

std::optional<SharedRange> even_range(const Multiprocessor& multiprocessor,
                                      std::span<const Standing> fewest,
                                      std::span<const Standing> most, const BlockNeeds& more,
                                      std::uint32_t share) {
  const std::uint32_t fit = fit_beside(multiprocessor, most, more).blocks;
  if (fit == 0 || fit_beside(multiprocessor, fewest, more).blocks <= share) return std::nullopt;
  const auto left = [&](std::span<const Standing> there) {
    return less(multiprocessor.shared, taken(multiprocessor, there).shared);
  };
  // Of what a block then takes, which is what it asks for and what is reserved.
  const std::uint64_t least =
      left(fewest) / (share + std::uint64_t{1}) / kSharedUnit * kSharedUnit + kSharedUnit;
  const std::uint64_t greatest = left(most) / std::min(fit, share) / kSharedUnit * kSharedUnit;
  return SharedRange{less(least, multiprocessor.reserved_shared),
                     less(greatest, multiprocessor.reserved_shared)};
}

}  // namespace baton::launch
