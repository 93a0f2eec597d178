#pragma once

// The domain of the analysis of addresses. docs/verdicts.md states its rules and why they are
// sound.
//
// A value is described by every address that has gone into it: an Origin. The principle is that of
// provenance: a computation that got the addresses of some memories, and numbers, can form valid
// addresses of those memories only. So an access through a value of one origin touches the memory
// of one of its sources.

#include <cstdint>
#include <vector>

namespace baton::overlap {

// Allocations begin at multiples of it (CUDA C++ Programming Guide, "Device Memory Accesses"), so
// fewer bits of an address are its alignment.
inline constexpr std::uint64_t kAllocationAlignment = 256;

// An address, or something that may hold one, that has gone into a value.
struct AddressSource {
  enum class Kind : std::uint8_t {
    kParam,       // the 64 bits at byte `offset` of parameter `id`
    kParamWord,   // the 32 bits at byte `offset` of parameter `id`
    kParamSpace,  // the address of parameter `id` itself
    kVariable,    // the address of variable `id` of the module
    kConst,       // the address of variable `id` of the module, in constant memory
    kShared,      // an address in shared memory
    kLocal,       // an address in local memory
    kLoaded,      // what was read from memory: an index, or an address of anything
  };
  // How it has gone in: a mask, as it may do so in several ways.
  using Ways = std::uint8_t;
  static constexpr Ways kWhole = 1;  // it is added, once
  static constexpr Ways kLow = 2;    // the lower half of it is added
  static constexpr Ways kHigh = 4;   // the upper half of it is added
  static constexpr Ways kMixed = 8;  // in any other way
  // Beside kMixed: by `or` and `xor`, sums and differences alone, so that the lowest bits of the
  // value depend on nothing but the lowest bits of the address.
  static constexpr Ways kBitwise = 16;
  // Of kLoaded, which no subtraction takes away again, these say something else. kWhole: sums of
  // values of 64 bits, or of functions of one of them and numbers. kLow: values of at most 32 bits.
  // kMixed: also the difference of two values of 64 bits, which may be that of two addresses.

  // An offset that is computed: any field of the parameter.
  static constexpr std::uint32_t kAnyOffset = UINT32_MAX;

  Kind kind = Kind::kLoaded;
  std::uint32_t id = 0;
  std::uint32_t offset = 0;
  Ways ways = kMixed;

  bool is_same(const AddressSource& other) const {
    return kind == other.kind && id == other.id && offset == other.offset;
  }
  friend auto operator<=>(const AddressSource&, const AddressSource&) = default;
};

using SourceKind = AddressSource::Kind;

// What a value may be. Without sources it is a number that no address has gone into.
struct Origin {
  bool is_unknown = false;             // anything may have gone in
  bool is_null = false;                // the constant 0; it has no sources
  std::vector<AddressSource> sources;  // ascending, each once
  // The one source as it is, with nothing added: the same value all the time.
  bool is_exact = false;
  bool is_exact_half = false;  // a half of such a value

  friend auto operator<=>(const Origin&, const Origin&) = default;
};

}  // namespace baton::overlap
