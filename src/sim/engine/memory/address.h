#pragma once

#include <cstdint>

namespace baton::sim {

// The device's address space. Addresses are less than 2^47, as a GPU's are, so that programs may
// keep marks of their own in the bits above. Bits 44 and up say what an address means:
//   1  global memory: bits 40-43 the device's ordinal, bit 39 set for constants, below that bytes.
//      The .const address of a constant is its distance from the first one of its module, less than
//      4 GiB
//   2  shared memory: the low 32 bits are the .shared address, of which bits 24-31 are the rank of
//      its block in the cluster, as in hardware
//   3  local memory of the executing thread: the low 32 bits are the .local address
//   4  the kernel's parameters: the low 32 bits are the .param address
//   6  code: the low 32 bits are a function's index in its module
// Systems place a process's programs, heaps and libraries elsewhere: at 0, 5, 7 or above.
inline constexpr std::uint64_t kGlobalWindow = 0x1000'0000'0000;
inline constexpr std::uint64_t kSharedWindow = 0x2000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x3000'0000'0000;
inline constexpr std::uint64_t kParamWindow = 0x4000'0000'0000;
inline constexpr std::uint64_t kCodeWindow = 0x6000'0000'0000;

inline constexpr unsigned kWindowShift = 44;
inline constexpr unsigned kRankShift = 24;
inline constexpr unsigned kRankBits = 8;
inline constexpr unsigned kOrdinalShift = 40;
inline constexpr std::uint64_t kConstantBit = std::uint64_t{1} << (kOrdinalShift - 1);
inline constexpr int kMaxOrdinal = 15;

constexpr unsigned window_of(std::uint64_t address) {
  return static_cast<unsigned>(address >> kWindowShift);
}
constexpr bool is_constant_address(std::uint64_t address) {
  return (address & kConstantBit) != 0;
}
// What user space of the host may have: 48 bits, or the sign of an address extended.
constexpr bool is_host_address(std::uint64_t address) {
  const unsigned window = window_of(address);
  return window == 0 || (window > 4 && window < 16) || address >> 47 == 0x1ffff;
}
// Global memory without constants: the device's, and memory of the host that kernels may use.
constexpr bool is_global_address(std::uint64_t address) {
  const bool is_of_device = window_of(address) == window_of(kGlobalWindow);
  return is_of_device ? !is_constant_address(address) : is_host_address(address);
}
// Of an address in shared memory, generic or not.
constexpr std::uint32_t rank_of(std::uint64_t address) {
  return static_cast<std::uint32_t>(address >> kRankShift) & ((1u << kRankBits) - 1);
}
constexpr unsigned window_number(std::uint64_t window) {
  return window_of(window);
}

}  // namespace baton::sim
