#pragma once

// The limits of a GPU of each compute capability. Every room that needs such a figure reads it here; the
// driver's own report of a device, where there is one, goes first.

#include <cstdint>
#include <span>

namespace baton::chip {

// What a multiprocessor (SM) has, and in what units it gives that out.
struct Multiprocessor {
  std::uint32_t threads = 0;
  std::uint32_t blocks = 0;
  std::uint32_t registers = 65536;    // of 32 bits
  std::uint32_t shared = 0;           // bytes
  std::uint32_t reserved_shared = 0;  // bytes of these that the system takes for each block
  std::uint32_t warp_size = 32;
  std::uint32_t partitions = 4;       // of the register file, among which warps are dealt out
  std::uint32_t register_unit = 256;  // a warp's registers are a multiple of this
  std::uint32_t shared_unit = 128;    // a block's bytes of shared memory are a multiple of this
};

// One compute capability, whatever the product. How many multiprocessors and how much memory there
// are is a matter of the product.
struct Chip {
  int architecture = 0;  // 90 for compute capability 9.0
  Multiprocessor multiprocessor;
  std::uint32_t threads_per_block = 1024;
  std::uint32_t registers_per_block = 65536;
  std::uint32_t registers_per_thread = 255;
  std::uint32_t shared_per_block = 48 * 1024;  // bytes, without opt-in
  std::uint32_t shared_per_block_optin = 0;    // bytes, static and dynamic together
  std::uint32_t largest_cluster = 0;           // in blocks, with opt-in; 0 without clusters
  std::uint32_t resident_grids = 128;
  // Where a kernel's parameters begin in constant bank 0 of machine code.
  std::uint32_t param_base = 0;
  // An embedded GPU (Tegra): its machine code and that of others do not mix.
  bool is_embedded = false;
};

// Blocks of the largest cluster that needs no opt-in: every chip with clusters takes it (CUDA
// programming guide, "Thread Block Clusters").
inline constexpr std::uint32_t kPortableCluster = 8;

// The known compute capabilities, oldest first.
std::span<const Chip> chips();

// Null for a compute capability that is not known.
const Chip* find(int architecture);

// The chip of this compute capability, or the newest known one before it: for a GPU that is newer
// than this table. The oldest where nothing is older.
const Chip& nearest(int architecture);

// The first compute capability with a feature. Instructions have their own floors in the table of
// PTX opcodes, launch attributes theirs in the attribute table.
//
// Programmatic dependent launch (PTX ISA, "griddepcontrol").
inline constexpr int kFirstWithPdl = 90;
// Thread block clusters (PTX ISA, ".reqnctapercluster").
inline constexpr int kFirstWithClusters = 90;
// Tensor maps and the copies that take them (CUDA driver API, "Tensor Map Object Management").
inline constexpr int kFirstWithTensorMaps = 90;
// Memory synchronization domains (CUDA programming guide, "Memory Synchronization Domains").
inline constexpr int kFirstWithMemSyncDomains = 90;
// Targets such as sm_90a, whose code runs on that capability alone (PTX ISA, ".target").
inline constexpr int kFirstWithSpecificTargets = 90;
// In cubins since then, a kernel's static shared memory includes what the system reserves
// (measured with CUDA 13.0).
inline constexpr int kFirstWithReservedInCubin = 90;

}  // namespace baton::chip
