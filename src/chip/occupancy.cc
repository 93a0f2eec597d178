#include "chip/occupancy.h"

#include <algorithm>
#include <utility>

namespace baton::chip {
namespace {

std::uint64_t ceil_div(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return ceil_div(value, unit) * unit;
}

std::uint64_t less(std::uint64_t from, std::uint64_t taken) {
  return from - std::min(from, taken);
}

std::uint64_t warps_of_block(const Multiprocessor& multiprocessor, const BlockNeeds& needs) {
  return ceil_div(needs.threads, multiprocessor.warp_size);
}

std::uint64_t registers_of_warp(const Multiprocessor& multiprocessor, std::uint32_t registers) {
  return round_up(std::uint64_t{std::max(registers, 1u)} * multiprocessor.warp_size,
                  multiprocessor.register_unit);
}

std::uint64_t shared_of_block(const Multiprocessor& multiprocessor, const BlockNeeds& needs) {
  return round_up(needs.shared + multiprocessor.reserved_shared, multiprocessor.shared_unit);
}

std::uint64_t warps_by_registers(const Multiprocessor& multiprocessor,
                                 std::uint64_t free_in_partition, std::uint32_t registers) {
  return free_in_partition / registers_of_warp(multiprocessor, registers) *
         multiprocessor.partitions;
}

}  // namespace

Resources free_resources(const Multiprocessor& multiprocessor, std::span<const Resident> there) {
  Resources left = {multiprocessor.blocks, multiprocessor.threads / multiprocessor.warp_size,
                    multiprocessor.registers / multiprocessor.partitions, multiprocessor.shared};
  for (const auto& [needs, count] : there) {
    const std::uint64_t warps = count * warps_of_block(multiprocessor, needs);
    left.blocks = less(left.blocks, count);
    left.warps = less(left.warps, warps);
    left.registers = less(left.registers, ceil_div(warps, multiprocessor.partitions) *
                                              registers_of_warp(multiprocessor, needs.registers));
    left.shared = less(left.shared, count * shared_of_block(multiprocessor, needs));
  }
  return left;
}

Fit fit_beside(const Multiprocessor& multiprocessor, std::span<const Resident> there,
               const BlockNeeds& more) {
  const Resources left = free_resources(multiprocessor, there);
  const std::uint64_t warps = std::max<std::uint64_t>(warps_of_block(multiprocessor, more), 1);
  const std::uint64_t shared = std::max<std::uint64_t>(shared_of_block(multiprocessor, more), 1);
  const std::pair<std::uint64_t, std::string_view> limits[] = {
      {warps_by_registers(multiprocessor, left.registers, more.registers) / warps, "registers"},
      {left.warps / warps, "threads"},
      {left.shared / shared, "shared memory"},
      {left.blocks, "places for blocks"}};
  const auto& [blocks, limit] =
      *std::min_element(std::begin(limits), std::end(limits),
                        [](const auto& a, const auto& b) { return a.first < b.first; });
  return {static_cast<std::uint32_t>(blocks), limit};
}

std::uint64_t warps_by_registers(const Multiprocessor& multiprocessor, std::uint32_t registers) {
  return warps_by_registers(multiprocessor, multiprocessor.registers / multiprocessor.partitions,
                            registers);
}

}  // namespace baton::chip
