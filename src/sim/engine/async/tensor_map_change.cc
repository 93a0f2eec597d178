#include "sim/engine/async/tensor_map_change.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "sim/engine/async/acquired_maps.h"
#include "sim/engine/async/bad_copy.h"
#include "sim/engine/isa/matrix.h"
#include "sim/engine/judge/fence.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kMapAlignment = 64;

// PTX ISA 9.0, "tensormap.replace", the table of new values of constant fields.
constexpr MapFieldRow kFields[] = {
    {"global_address", MapField::kAddress, 64, 0, false, ~std::uint64_t{0}, ~std::uint64_t{0}},
    {"rank", MapField::kRank, 32, 0, false, kMaxTensorRank - 1, kMaxTensorRank - 1},
    {"box_dim", MapField::kBox, 32, kMaxTensorRank, false, kMaxTensorBox, kMaxTensorBox},
    {"global_dim", MapField::kExtent, 32, kMaxTensorRank, false, UINT32_MAX, UINT32_MAX},
    {"global_stride", MapField::kStride, 64, kMaxTensorRank - 1, false, kMaxTensorStride - 1,
     kMaxTensorStride - 1},
    {"element_stride", MapField::kElementStride, 32, kMaxTensorRank, false, kMaxElementStride,
     kMaxElementStride},
    {"elemtype", MapField::kType, 32, 0, true, 15, 12},
    {"interleave_layout", MapField::kInterleaving, 32, 0, true, 2, 0},
    {"swizzle_mode", MapField::kSwizzle, 32, 0, true, 4, 3},
    {"swizzle_atomicity", MapField::kSwizzleUnit, 32, 0, true, 3, 0},
    {"fill_mode", MapField::kFill, 32, 0, true, 1, 1},
};

// By the numbers of the same table, which are not those of CUtensorMapDataType.
constexpr TensorType kElementTypes[] = {TensorType::kU8,     TensorType::kU16,  TensorType::kU32,
                                        TensorType::kI32,    TensorType::kU64,  TensorType::kI64,
                                        TensorType::kF16,    TensorType::kF32,  TensorType::kF32Ftz,
                                        TensorType::kF64,    TensorType::kBF16, TensorType::kTF32,
                                        TensorType::kTF32Ftz};

TileMap map_of_zeros() {
  TileMap map;
  map.rank = 1;
  map.strides[0] = size_of(map.type);
  map.element_strides[0] = 1;
  return map;
}

std::optional<TileMap> changeable(const TensorMapBytes& bytes) {
  return bytes == TensorMapBytes{} ? map_of_zeros() : unpack_tensor_map(bytes);
}

bool store_map_bytes(Exec* x, const Insn* i, int lane, std::uint64_t address,
                     const TensorMapBytes& bytes) {
  for (std::uint32_t at = 0; at < kTensorMapBytes; at += kMapAlignment) {
    if (!store_lane(x, i, lane, Space::kGeneric, address + at, bytes.data() + at, kMapAlignment,
                    false)) {
      return false;
    }
  }
  return true;
}

bool refuse(Exec* x, const Insn* i, int lane, const std::string& message) {
  bad_copy(x, i, lane, message);
  return false;
}

bool may_hold_map(std::uint64_t address) {
  const unsigned window = window_of(address);
  return window == window_number(kSharedWindow) || needs_acquire(address);
}

// False after a fault.
bool replace_one(Exec* x, const Insn* i, int lane, const MapFieldForm& form, unsigned bits) {
  const std::uint64_t address = slot_at<std::uint64_t>(x, i->r[0])[lane];
  const std::uint64_t value = bits == 64 ? slot_at<std::uint64_t>(x, i->r[1])[lane]
                                         : slot_at<std::uint32_t>(x, i->r[1])[lane];
  if (!may_hold_map(address)) {
    return refuse(x, i, lane,
                  fmt::format("changes a tensor map at {:#x}, which has to be in shared or global "
                              "memory",
                              address));
  }
  const std::optional<TensorMapBytes> bytes = load_map_bytes(x, i, lane, address);
  if (!bytes) return false;
  std::optional<TileMap> map = changeable(*bytes);
  if (!map) {
    return refuse(x, i, lane,
                  fmt::format("changes a tensor map, but the bytes at {:#x} are neither a tensor "
                              "map nor zeros",
                              address));
  }
  const std::string problem = replace_field(*map, form.field, form.ordinal, value);
  if (!problem.empty()) return refuse(x, i, lane, problem);
  return store_map_bytes(x, i, lane, address, pack(*map));
}

}  // namespace

std::span<const MapFieldRow> map_fields() {
  return kFields;
}

std::string replace_field(TileMap& map, MapField field, unsigned ordinal, std::uint64_t value) {
  const MapFieldRow& row = kFields[static_cast<std::size_t>(field)];
  const std::string name =
      row.ordinals == 0 ? std::string(row.name) : fmt::format("{} {}", row.name, ordinal);
  if (value > row.simulated) {
    return fmt::format("sets {} of a tensor map to {}: {} is the most", name, value, row.simulated);
  }
  if (map.unfolds != 0 && (field == MapField::kBox || field == MapField::kRank)) {
    return fmt::format("sets {} of a tensor map in mode im2col: it has to be in mode tile", name);
  }
  constexpr std::uint64_t kUnit = 16;
  const bool is_place = field == MapField::kAddress || field == MapField::kStride;
  if (is_place && value % kUnit != 0) {
    return fmt::format("sets {} of a tensor map to {:#x}: it has to be a multiple of {}", name,
                       value, kUnit);
  }
  switch (field) {
    case MapField::kAddress:
      map.address = value;
      break;
    case MapField::kRank:
      map.rank = static_cast<std::uint8_t>(value + 1);
      break;
    case MapField::kBox:
      map.box[ordinal] = static_cast<std::uint16_t>(value);
      break;
    case MapField::kExtent:
      map.extents[ordinal] = value;
      break;
    case MapField::kStride:
      map.strides[ordinal + 1] = value;
      break;
    case MapField::kElementStride:
      // That of the innermost dimension is ignored, as in cuTensorMapEncodeTiled.
      if (ordinal > 0) map.element_strides[ordinal] = static_cast<std::uint8_t>(value);
      break;
    case MapField::kType:
      map.type = kElementTypes[value];
      map.strides[0] = size_of(map.type);
      break;
    case MapField::kInterleaving:
    case MapField::kSwizzleUnit:
      break;  // 0 is the only value
    case MapField::kSwizzle:
      map.swizzle_bits = static_cast<std::uint8_t>(value);
      break;
    case MapField::kFill:
      map.fills_nan = static_cast<std::uint8_t>(value);
      break;
  }
  return "";
}

const Insn* op_replace_map_field(Exec* x, const Insn* i) {
  const auto form = std::bit_cast<MapFieldForm>(i->imm);
  const unsigned bits = kFields[static_cast<std::size_t>(form.field)].bits;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    if (!replace_one(x, i, std::countr_zero(left), form, bits)) return nullptr;
  }
  return i + 1;
}

const Insn* op_publish_tensor_map(Exec* x, const Insn* i) {
  const Insn* next = nullptr;
  if (!whole_warp(x, i, &next)) return next;
  const auto* to = slot_at<std::uint64_t>(x, i->r[0]);
  const auto* from = slot_at<std::uint64_t>(x, i->r[1]);
  // All lanes copy, and nearly always the same map.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> done;
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::pair copy{to[lane], from[lane]};
    if (std::ranges::find(done, copy) != done.end()) continue;
    done.push_back(copy);
    const std::optional<TensorMapBytes> bytes = load_map_bytes(x, i, lane, from[lane]);
    if (!bytes || !store_map_bytes(x, i, lane, to[lane], *bytes)) return nullptr;
  }
  // One lane's copy stands for those of all: each is before what any of them does next.
  note_sync(x, i, x->mask);
  return op_fence(x, i);
}

std::optional<TensorMapBytes> load_map_bytes(Exec* x, const Insn* i, int lane,
                                             std::uint64_t address) {
  TensorMapBytes bytes;
  for (std::uint32_t at = 0; at < kTensorMapBytes; at += kMapAlignment) {
    if (!load_lane(x, i, lane, Space::kGeneric, address + at, bytes.data() + at, kMapAlignment,
                   LoadKind::kWeak)) {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace baton::sim
