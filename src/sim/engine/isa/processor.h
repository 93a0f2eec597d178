#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace baton::sim {

// Whether this processor and its system run code for x86-64-v3. By the instruction itself:
// __builtin_cpu_supports says no to everything in programs that zig links.
inline bool is_x86_64_v3() {
#if defined(__x86_64__)
  constexpr unsigned kFma = 1U << 12, kMovbe = 1U << 22, kSavedByTheSystem = 1U << 27,
                     kF16c = 1U << 29;
  constexpr unsigned kBmi = 1U << 3, kAvx2 = 1U << 5, kBmi2 = 1U << 8;  // of leaf 7
  constexpr unsigned kLzcnt = 1U << 5;                                  // of leaf 0x80000001
  constexpr unsigned kBasic = kFma | kMovbe | kSavedByTheSystem | kF16c;
  constexpr unsigned kExtended = kBmi | kAvx2 | kBmi2;
  constexpr unsigned kVectorRegisters = 6;  // the system saves xmm and ymm
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kBasic) != kBasic) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kExtended) != kExtended) return false;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || (c & kLzcnt) == 0) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kVectorRegisters) == kVectorRegisters;
#else
  return false;
#endif
}

}  // namespace baton::sim
