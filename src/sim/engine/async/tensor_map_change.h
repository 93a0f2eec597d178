#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/engine/async/tensor_map.h"
#include "sim/engine/isa/insn.h"

namespace baton::sim {

struct Exec;

// Tensor maps that kernels make and change (PTX ISA 9.0, "tensormap.replace" and
// "tensormap.cp_fenceproxy").

enum class MapField : std::uint8_t {
  kAddress,
  kRank,
  kBox,
  kExtent,
  kStride,
  kElementStride,
  kType,
  kInterleaving,
  kSwizzle,
  kSwizzleUnit,
  kFill
};

// A field as tensormap.replace names it.
struct MapFieldRow {
  std::string_view name;
  MapField field;
  unsigned bits;       // of the value
  unsigned ordinals;   // how many of it a map has, one for each dimension; 0 where it has one
  bool is_constant;    // the value must be an immediate
  std::uint64_t most;  // the greatest value that PTX has for it
  // The greatest value that the simulated GPU has for it.
  std::uint64_t simulated;
};
std::span<const MapFieldRow> map_fields();

// Changes a field. What it returns says why the value cannot be; empty where it can.
std::string replace_field(TileMap& map, MapField field, unsigned ordinal, std::uint64_t value);

// In Insn::imm.
struct MapFieldForm {
  MapField field = MapField::kAddress;
  std::uint8_t ordinal = 0;
  std::uint8_t unused[6] = {};
};
static_assert(sizeof(MapFieldForm) == 8);

// tensormap.replace: r[0] the generic address of the map, r[1] the value. Bytes that are all 0 are
// a map with fields of 0 (CUDA C++ Programming Guide 13.0, "Device-side Encoding and Modification
// of a Tensor Map").
const Insn* op_replace_map_field(Exec* x, const Insn* i);

// tensormap.cp_fenceproxy: r[0] the generic address in global memory, r[1] that in shared memory.
// It is a fence as op_fence is, of the scope in Insn::imm.
const Insn* op_publish_tensor_map(Exec* x, const Insn* i);

// The bytes at a generic address in whatever space, or nothing after a fault.
std::optional<TensorMapBytes> load_map_bytes(Exec* x, const Insn* i, int lane,
                                             std::uint64_t address);

}  // namespace baton::sim
