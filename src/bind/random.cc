#include "bind/random.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <bit>
#include <cstring>
#include <string>

#include "base/array/float_convert.h"
#include "base/hash/hash.h"

namespace baton::bind {
namespace {

// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), in
// the constants of Vigna's public-domain splitmix64.c.
constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;

[[gnu::always_inline]] inline std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// The high 53 bits, exact in double. Processors convert signed numbers alone in one instruction.
[[gnu::always_inline]] inline double high_bits(std::uint64_t z) {
  return static_cast<double>(static_cast<std::int64_t>(z >> 11));
}

// 53 bits as a multiple of 2^-52 in [-1, 1): exact in double.
[[gnu::always_inline]] inline double uniform(std::uint64_t z) {
  return high_bits(z) * 0x1p-52 - 1.0;
}

// The high half of z * bound: an integer in [0, bound).
std::uint64_t high_product(std::uint64_t z, std::uint64_t bound) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{z} * bound) >> 64);
}

std::uint64_t below_hundred(std::uint64_t z) {
  return high_product(z, 100);
}

// Rounds a value of this sequence, once, to a 16-bit float with so many bits of fraction and such a
// bias: what encode_float gives, without its branches. Values lie in [-1, 1) and, but for zero, not
// below 2^-52: they are normal, or so small in f16 that the slow way is rare.
template <int kFraction, int kBias>
std::uint16_t round_small(DType dtype, double value) {
  constexpr int kDropped = 52 - kFraction;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const auto exponent = static_cast<int>(magnitude >> 52) - 1023 + kBias;
  if (exponent < 1) return static_cast<std::uint16_t>(encode_float(dtype, value));
  // To the nearest, ties to even; a carry goes into the exponent, where it belongs.
  const std::uint64_t odd = (magnitude >> kDropped) & 1;
  const std::uint64_t kept =
      (magnitude + (std::uint64_t{1} << (kDropped - 1)) - 1 + odd) >> kDropped;
  constexpr std::uint64_t kRebias = static_cast<std::uint64_t>(1023 - kBias) << kFraction;
  return static_cast<std::uint16_t>((bits >> 63 << 15) | (kept - kRebias));
}

template <typename T, typename Element>
[[gnu::always_inline]] inline void write(std::uint64_t key, std::uint64_t first, std::size_t count,
                                         void* target, Element&& element) {
  auto* out = static_cast<unsigned char*>(target);
  std::uint64_t counter = key + (first + 1) * kStep;
  for (std::size_t i = 0; i < count; ++i, counter += kStep) {
    const T value = static_cast<T>(element(mix(counter)));
    std::memcpy(out + i * sizeof(T), &value, sizeof(T));
  }
}

#if defined(__x86_64__)
// Whether the processor multiplies and converts eight words at once, and the system keeps such
// registers. By the instruction itself, as the simulated GPU asks (sim/engine/isa/processor.h).
bool has_wide_words() {
  constexpr unsigned kSavedByTheSystem = 1U << 27;              // of leaf 1
  constexpr unsigned kAvx512 = 1U << 16 | 1U << 17 | 1U << 31;  // F, DQ and VL of leaf 7
  constexpr unsigned kRegisters = 0xE6;                         // xmm, ymm, masks and zmm
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSavedByTheSystem) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (b & kAvx512) != kAvx512) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kRegisters) == kRegisters;
}

// The usual elements, compiled for such processors. Each has the same value as elsewhere.
[[gnu::target("avx512f,avx512dq,avx512vl")]] void write_wide(std::uint64_t key, std::uint64_t first,
                                                             std::size_t count, void* target) {
  write<float>(key, first, count, target, [](std::uint64_t z) { return uniform(z); });
}
#else
bool has_wide_words() {
  return false;
}
void write_wide(std::uint64_t, std::uint64_t, std::size_t, void*) {}
#endif

// As many elements as fit, of any size: `element` gives the stored form of one.
template <typename Element>
void write_as(DType dtype, std::uint64_t key, std::uint64_t first, std::size_t count, void* target,
              Element&& element) {
  switch (size_of(dtype)) {
    case 1:
      return write<std::uint8_t>(key, first, count, target, element);
    case 2:
      return write<std::uint16_t>(key, first, count, target, element);
    case 4:
      return write<std::uint32_t>(key, first, count, target, element);
    default:
      return write<std::uint64_t>(key, first, count, target, element);
  }
}

// The sum of twelve uniform values of 21 bits, three to a word, with mean 0 and variance 1: exact
// in double, so that each machine has the same.
constexpr int kWords = 4;
double standard_normal(std::uint64_t key, std::uint64_t element) {
  constexpr std::uint64_t kPart = (1 << 21) - 1;
  std::uint64_t sum = 0;
  for (std::uint64_t word = 1; word <= kWords; ++word) {
    const std::uint64_t z = mix(key + (element * kWords + word) * kStep);
    sum += (z & kPart) + (z >> 21 & kPart) + (z >> 42 & kPart);
  }
  constexpr auto kTwiceTheMean = static_cast<std::int64_t>(3 * kWords * kPart);
  return static_cast<double>(2 * static_cast<std::int64_t>(sum) - kTwiceTheMean) * 0x1p-22;
}

}  // namespace

RandomSequence::RandomSequence(std::uint64_t seed, std::string_view buffer) {
  const Sha256Digest digest = sha256(std::to_string(seed) + ':' + std::string(buffer));
  key_ = 0;
  for (int i = 7; i >= 0; --i) key_ = key_ << 8 | digest[static_cast<std::size_t>(i)];
}

void RandomSequence::generate(DType dtype, std::uint64_t first, std::size_t count,
                              void* target) const {
  if (dtype == DType::kF32) {
    static const bool is_wide = has_wide_words();
    if (is_wide) return write_wide(key_, first, count, target);
    return write<float>(key_, first, count, target, uniform);
  }
  if (dtype == DType::kF64) {
    return write<double>(key_, first, count, target, uniform);
  }
  if (dtype == DType::kBool) {
    return write<std::uint8_t>(key_, first, count, target, [](std::uint64_t z) { return z >> 63; });
  }
  if (dtype == DType::kF16) {
    return write<std::uint16_t>(key_, first, count, target, [](std::uint64_t z) {
      return round_small<10, 15>(DType::kF16, uniform(z));
    });
  }
  if (dtype == DType::kBF16) {
    return write<std::uint16_t>(key_, first, count, target, [](std::uint64_t z) {
      return round_small<7, 127>(DType::kBF16, uniform(z));
    });
  }
  if (is_float(dtype)) {
    const auto encode = [dtype](std::uint64_t z) { return encode_float(dtype, uniform(z)); };
    return write<std::uint8_t>(key_, first, count, target, encode);
  }
  write_as(dtype, key_, first, count, target, below_hundred);
}

void RandomSequence::generate_normal(DType dtype, double deviation, std::uint64_t first,
                                     std::size_t count, void* target) const {
  std::uint64_t next = first;
  write_as(dtype, key_, first, count, target, [&](std::uint64_t) {
    return encode_float(dtype, deviation * standard_normal(key_, next++));
  });
}

void RandomSequence::generate_uniform(DType dtype, double low, double high, std::uint64_t first,
                                      std::size_t count, void* target) const {
  if (is_float(dtype)) {
    const double width = high - low;
    write_as(dtype, key_, first, count, target, [=](std::uint64_t z) {
      const double scaled = high_bits(z) * 0x1p-53 * width;
      return encode_float(dtype, low + scaled);
    });
    return;
  }
  const auto least = static_cast<std::int64_t>(low);
  const auto values = static_cast<std::uint64_t>(static_cast<std::int64_t>(high) - least) + 1;
  write_as(dtype, key_, first, count, target, [=](std::uint64_t z) {
    return static_cast<std::uint64_t>(least) + high_product(z, values);
  });
}

}  // namespace baton::bind
