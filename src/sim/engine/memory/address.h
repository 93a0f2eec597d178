#pragma once

#include <cstdint>

namespace baton::sim {

// The device's 64-bit address space. The top byte says what an address means; host pointers of user
// space have zero there, so the two are never mistaken for each other.
//   0x01  global memory: bits 50-55 the device's ordinal, bit 49 set for constants, below that
//         bytes handed out once. The .const address of a constant is its distance from the first
//         one of its module, less than 4 GiB
//   0x02  shared memory: the low 32 bits are the .shared address, of which bits 24-31 are the rank
//         of its block in the cluster, as in hardware
//   0x03  local memory of the executing thread: the low 32 bits are the .local address
//   0x04  the kernel's parameters: the low 32 bits are the .param address
//   0x05  code: the low 32 bits are a function's index in its module
inline constexpr std::uint64_t kGlobalWindow = 0x0100'0000'0000'0000;
inline constexpr std::uint64_t kSharedWindow = 0x0200'0000'0000'0000;
inline constexpr std::uint64_t kLocalWindow = 0x0300'0000'0000'0000;
inline constexpr std::uint64_t kParamWindow = 0x0400'0000'0000'0000;
inline constexpr std::uint64_t kCodeWindow = 0x0500'0000'0000'0000;

inline constexpr unsigned kWindowShift = 56;
inline constexpr unsigned kRankShift = 24;
inline constexpr unsigned kRankBits = 8;
inline constexpr unsigned kOrdinalShift = 50;
inline constexpr std::uint64_t kConstantBit = std::uint64_t{1} << 49;
inline constexpr int kMaxOrdinal = 63;

constexpr unsigned window_of(std::uint64_t address) {
  return static_cast<unsigned>(address >> kWindowShift);
}
constexpr bool is_constant_address(std::uint64_t address) {
  return (address >> 49 & 1) != 0;
}
// Of an address in shared memory, generic or not.
constexpr std::uint32_t rank_of(std::uint64_t address) {
  return static_cast<std::uint32_t>(address >> kRankShift) & ((1u << kRankBits) - 1);
}
constexpr unsigned window_number(std::uint64_t window) {
  return window_of(window);
}

}  // namespace baton::sim
