#pragma once

// Which memory the accesses of a launch may touch: the origins of their addresses, with what the
// launch gives the kernel's parameters.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "pdl/footprint/footprint.h"
#include "pdl/footprint/unseen.h"

namespace baton::overlap {

// Memory by a number of the caller's: a buffer, or a variable of a module. Pieces with different
// numbers do not overlap.
using MemoryId = std::uint32_t;

// The offset of an address in its memory that is not known.
inline constexpr std::uint64_t kUnknownOffset = UINT64_MAX;
// A piece of memory whose end is not known; an access may also lie before its beginning.
inline constexpr std::uint64_t kUnknownBytes = UINT64_MAX;

// The number of no argument.
inline constexpr std::uint32_t kNoArgument = UINT32_MAX;

// What a launch gives one parameter.
struct GivenArgument {
  enum class Kind : std::uint8_t {
    kMemory,     // an address: `memory` and `offset` in it, in bytes
    kTensorMap,  // a map by value, of what lies in `memory` from `offset` on
    kScalar,     // a number, `bits` where it is known
    kStruct,     // a struct by value with the addresses `fields`, `numbers`, and `maps`
    kBytes,      // a struct by value, which may hold any address
  };
  // An address in a struct, 8 bytes at `position`.
  struct Field {
    std::uint32_t position = 0;
    MemoryId memory = 0;
    std::uint64_t offset = kUnknownOffset;  // in the memory, in bytes
  };
  // A number in a struct, at most 8 bytes at `position`.
  struct Number {
    std::uint32_t position = 0, bytes = 0;
    std::uint64_t bits = 0;
  };
  Kind kind = Kind::kBytes;
  MemoryId memory = 0;
  std::uint64_t offset = 0;
  // kMemory: the bytes from there on that the kernel is given, and that its accesses stay in.
  std::uint64_t bytes = kUnknownBytes;
  std::optional<std::uint64_t> bits = {};
  std::vector<Field> fields = {};
  std::vector<Number> numbers = {};  // those that are known
  std::vector<Field> maps = {};      // tensor maps of what lies there
  bool may_have_other_maps = false;  // kStruct: also maps of what is not known
  // Another memory has bytes between the same two multiples of kAllocationAlignment as one of this.
  bool has_neighbours = false;

  static GivenArgument pointer(MemoryId memory, std::uint64_t offset = 0,
                               std::uint64_t bytes = kUnknownBytes) {
    return {.kind = Kind::kMemory, .memory = memory, .offset = offset, .bytes = bytes};
  }
  static GivenArgument tensor_map(MemoryId memory, std::uint64_t offset = 0) {
    return {.kind = Kind::kTensorMap, .memory = memory, .offset = offset};
  }
  static GivenArgument scalar(std::optional<std::uint64_t> bits) {
    return {.kind = Kind::kScalar, .bits = bits};
  }
};

// Gives the number of the variable of that name in the kernel's module. `constant`: it is in
// constant memory.
using VariableNumber = std::function<MemoryId(std::string_view name, bool constant)>;

// What an access may touch, any one of these. Refers to the scratch memory of its AddressBinder.
struct TouchedMemory {
  struct Place {
    MemoryId memory = 0;
    std::uint64_t offset = kUnknownOffset;  // that the kernel is given, in bytes
    std::uint64_t bytes = kUnknownBytes;    // known only with the offset
    std::uint32_t argument = kNoArgument;   // whose offset it is
    bool is_same(const Place& other) const {
      return memory == other.memory && offset == other.offset && bytes == other.bytes;
    }
  };
  std::pmr::vector<Place> places;              // each once
  std::optional<UnknownAddress> unknown = {};  // why it may touch any memory
  bool by_value = false;                       // the value of a scalar was looked at
};

// What a loaded value may be that is added to an address.
enum class LoadedValue : std::uint8_t {
  kIndex,  // unless the kernel itself stores addresses, or differences of them
  // The same, and no buffer that the kernel loads from has such a value, by what all kernels store.
  kFollowed,
  kDifference,  // of two addresses, too: another kernel may have stored it, or both
};

// Binds the accesses of one launch. Refers to its arguments, which must outlive it.
class AddressBinder {
 public:
  AddressBinder(const Footprint& footprint, std::span<const GivenArgument> arguments,
                const VariableNumber& variable, LoadedValue loaded = LoadedValue::kIndex);
  AddressBinder(const AddressBinder&) = delete;
  AddressBinder& operator=(const AddressBinder&) = delete;

  // Whether places are wider than what arguments are given.
  bool widens_places() const { return tells_alignment_; }
  // Whether the kernel may leave in memory what leads from the address of one buffer to another:
  // addresses, or what was computed from several.
  bool stores_differences() const { return stores_differences_; }
  // Whether addresses may decide which numbers the kernel computes.
  bool tells_addresses() const { return !deciding_.empty() || decided_by_unknown_; }
  // Empty if the access touches no global memory.
  TouchedMemory touched(const AccessGroup& access) const;

 private:
  struct Content;
  struct Mixture;
  Content content(const AddressSource& source) const;
  Mixture mixture(const Origin& origin) const;
  bool may_lie_among_addresses(const AddressSource& number) const;
  void note_compared(const AddressSource& source, const AddressSource& other);
  void bind_origin(const AccessGroup& access, const Origin& origin, TouchedMemory& out) const;
  void bind_map(const Origin& origin, TouchedMemory& out) const;
  bool is_null(const Origin& origin) const;

  // Lists of a few memories, by the thousand: a program binds each of its launches.
  std::array<std::byte, 2048> room_;
  mutable std::pmr::monotonic_buffer_resource scratch_{room_.data(), room_.size()};
  const Footprint& footprint_;
  std::span<const GivenArgument> arguments_;
  const VariableNumber& variable_;
  // Memory whose addresses decide what the kernel computes: any value may depend on them.
  std::pmr::vector<TouchedMemory::Place> deciding_{&scratch_};
  std::optional<UnknownAddress> decided_by_unknown_;
  bool places_decide_ = false;      // the same of addresses in memory of the block
  bool tells_alignment_ = false;    // numbers tell the lowest bits of addresses
  bool leads_beside_ = false;       // and so lead to memory with another number
  bool loads_decide_ = false;       // the same of what is loaded from memory
  bool wide_loads_decide_ = false;  // of values of 64 bits
  bool stores_differences_ = false;
  bool loads_indexes_ = true;  // what is loaded from memory and added to an address is an index
};

}  // namespace baton::overlap
