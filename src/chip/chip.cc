#include "chip/chip.h"

#include <algorithm>
#include <iterator>

namespace baton::chip {
namespace {

constexpr std::uint32_t kKiB = 1024;

// Limits: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability" (12.9 up to
// 7.2, 13.0 after). Blocks of a multiprocessor, units and partitions: cuda_occupancy.h of the
// toolkit. From 8.0 on "CUDA reserves 1 KB of shared memory per thread block" (tuning guides of
// Ampere, Hopper and Blackwell). Clusters: the tuning guides of Hopper and Blackwell allow 16
// blocks on 9.0 and 10.0; no larger size than the portable one is documented for later ones.
// Parameter bases: measured with CUDA 13.0 from 8.0 on; before it, those of published machine code
// of the generation (c[0x0][0x140], c[0x0][0x160]).
constexpr Chip kChips[] = {
    {.architecture = 50,
     .multiprocessor = {.threads = 2048, .blocks = 32, .shared = 64 * kKiB, .shared_unit = 256},
     .shared_per_block_optin = 48 * kKiB,
     .resident_grids = 32,
     .param_base = 0x140},
    {.architecture = 52,
     .multiprocessor = {.threads = 2048, .blocks = 32, .shared = 96 * kKiB, .shared_unit = 256},
     .shared_per_block_optin = 48 * kKiB,
     .resident_grids = 32,
     .param_base = 0x140},
    {.architecture = 53,
     .multiprocessor = {.threads = 2048, .blocks = 32, .shared = 64 * kKiB, .shared_unit = 256},
     .registers_per_block = 32768,
     .shared_per_block_optin = 48 * kKiB,
     .resident_grids = 16,
     .param_base = 0x140,
     .is_embedded = true},
    {.architecture = 60,
     .multiprocessor =
         {.threads = 2048, .blocks = 32, .shared = 64 * kKiB, .partitions = 2, .shared_unit = 256},
     .shared_per_block_optin = 48 * kKiB,
     .param_base = 0x140},
    {.architecture = 61,
     .multiprocessor = {.threads = 2048, .blocks = 32, .shared = 96 * kKiB, .shared_unit = 256},
     .shared_per_block_optin = 48 * kKiB,
     .resident_grids = 32,
     .param_base = 0x140},
    {.architecture = 62,
     .multiprocessor = {.threads = 2048, .blocks = 32, .shared = 64 * kKiB, .shared_unit = 256},
     .registers_per_block = 32768,
     .shared_per_block_optin = 48 * kKiB,
     .resident_grids = 16,
     .param_base = 0x140,
     .is_embedded = true},
    {.architecture = 70,
     .multiprocessor = {.threads = 2048, .blocks = 32, .shared = 96 * kKiB, .shared_unit = 256},
     .shared_per_block_optin = 96 * kKiB,
     .param_base = 0x160},
    {.architecture = 72,
     .multiprocessor = {.threads = 2048, .blocks = 32, .shared = 96 * kKiB, .shared_unit = 256},
     .shared_per_block_optin = 96 * kKiB,
     .resident_grids = 16,
     .param_base = 0x160,
     .is_embedded = true},
    {.architecture = 75,
     .multiprocessor = {.threads = 1024, .blocks = 16, .shared = 64 * kKiB, .shared_unit = 256},
     .shared_per_block_optin = 64 * kKiB,
     .param_base = 0x160},
    {.architecture = 80,
     .multiprocessor =
         {.threads = 2048, .blocks = 32, .shared = 164 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 163 * kKiB,
     .param_base = 0x160},
    {.architecture = 86,
     .multiprocessor =
         {.threads = 1536, .blocks = 16, .shared = 100 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 99 * kKiB,
     .param_base = 0x160},
    {.architecture = 87,
     .multiprocessor =
         {.threads = 1536, .blocks = 16, .shared = 164 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 163 * kKiB,
     .param_base = 0x160,
     .is_embedded = true},
    {.architecture = 89,
     .multiprocessor =
         {.threads = 1536, .blocks = 24, .shared = 100 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 99 * kKiB,
     .param_base = 0x160},
    {.architecture = 90,
     .multiprocessor =
         {.threads = 2048, .blocks = 32, .shared = 228 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 227 * kKiB,
     .largest_cluster = 16,
     .param_base = 0x210},
    {.architecture = 100,
     .multiprocessor =
         {.threads = 2048, .blocks = 32, .shared = 228 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 227 * kKiB,
     .largest_cluster = 16,
     .param_base = 0x380},
    {.architecture = 103,
     .multiprocessor =
         {.threads = 2048, .blocks = 32, .shared = 228 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 227 * kKiB,
     .largest_cluster = 16,
     .param_base = 0x380},
    {.architecture = 110,
     .multiprocessor =
         {.threads = 1536, .blocks = 24, .shared = 228 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 227 * kKiB,
     .largest_cluster = 8,
     .param_base = 0x380},
    {.architecture = 120,
     .multiprocessor =
         {.threads = 1536, .blocks = 24, .shared = 100 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 99 * kKiB,
     .largest_cluster = 8,
     .param_base = 0x380},
    {.architecture = 121,
     .multiprocessor =
         {.threads = 1536, .blocks = 24, .shared = 100 * kKiB, .reserved_shared = kKiB},
     .shared_per_block_optin = 99 * kKiB,
     .largest_cluster = 8,
     .param_base = 0x380},
};

static_assert(std::is_sorted(std::begin(kChips), std::end(kChips),
                             [](const Chip& a, const Chip& b) {
                               return a.architecture < b.architecture;
                             }),
              "`nearest` looks for the last that is not newer");

}  // namespace

std::span<const Chip> chips() {
  return kChips;
}

const Chip* find(int architecture) {
  const Chip& chip = nearest(architecture);
  return chip.architecture == architecture ? &chip : nullptr;
}

const Chip& nearest(int architecture) {
  const auto newer =
      std::upper_bound(std::begin(kChips), std::end(kChips), architecture,
                       [](int wanted, const Chip& chip) { return wanted < chip.architecture; });
  return newer == std::begin(kChips) ? *newer : *std::prev(newer);
}

}  // namespace baton::chip
