#include "sim/engine/async/tensor_copy.h"

#include <fmt/core.h>

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "sim/engine/async/acquired_maps.h"
#include "sim/engine/async/bad_copy.h"
#include "sim/engine/async/bulk_copy.h"
#include "sim/engine/async/tensor_map_change.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kTileAlignment = 128;  // in shared memory

// Nothing after a fault.
std::optional<TileMap> map_of(Exec* x, const Insn* i, int lane, std::uint64_t address,
                              const TensorMapBytes& bytes, const TensorForm& form) {
  const std::optional<TileMap> map = unpack_tensor_map(bytes);
  if (!map) {
    bad_copy(x, i, lane, fmt::format("the bytes at {:#x} are not a tensor map", address));
    return std::nullopt;
  }
  if (map->rank != form.rank) {
    bad_copy(x, i, lane,
             fmt::format("takes a tensor of {} dimensions, the map has {}", form.rank, map->rank));
    return std::nullopt;
  }
  if ((map->unfolds != 0) != form.unfolds) {
    const auto mode = [](bool unfolds) { return unfolds ? "im2col" : "tiled"; };
    bad_copy(x, i, lane,
             fmt::format("copies in mode {}, the tensor map at {:#x} is of mode {}",
                         mode(form.unfolds), address, mode(map->unfolds != 0)));
    return std::nullopt;
  }
  if (const std::string flaw = flaw_of(*map); !flaw.empty()) {
    bad_copy(x, i, lane, fmt::format("cannot use the tensor map at {:#x}: {}", address, flaw));
    return std::nullopt;
  }
  return map;
}

// The type that a reduction has for elements of a map.
std::optional<Type> type_of(TensorType type, AtomOp op) {
  const bool bits = op == AtomOp::kAnd || op == AtomOp::kOr || op == AtomOp::kXor;
  switch (type) {
    case TensorType::kU32:
      return bits ? Type::kB32 : Type::kU32;
    case TensorType::kI32:
      return bits ? Type::kB32 : Type::kS32;
    case TensorType::kU64:
      return bits ? Type::kB64 : Type::kU64;
    case TensorType::kI64:
      return bits ? Type::kB64 : Type::kS64;
    case TensorType::kF16:
      return Type::kF16;
    case TensorType::kBF16:
      return Type::kBF16;
    case TensorType::kF32:
    case TensorType::kF32Ftz:
      return Type::kF32;
    default:
      return std::nullopt;
  }
}

std::uint32_t shared_offset(std::uint64_t address) {
  return static_cast<std::uint32_t>(address) & ((1u << kRankShift) - 1);
}

// Whether no row of it ends within a chunk.
bool is_whole(const TensorTile& tile) {
  return tile.runs.empty() || tile.runs[0].bytes % kSwizzleChunk == 0;
}

bool check_runs(Exec* x, const Insn* i, int lane, const TensorForm& form, const TensorTile& tile) {
  for (const TensorTile::Run& run : tile.runs) {
    const MemorySpan span{Space::kGlobal, run.address, run.bytes, 1};
    if (!check_span(x, i, lane, span, !form.to_shared)) return false;
  }
  return true;
}

// False after a fault.
bool copy_one(Exec* x, const Insn* i, int lane, const TensorForm& form) {
  const std::uint64_t at = slot_at<std::uint64_t>(x, i->r[1])[lane];
  const std::optional<TensorMapBytes> bytes = read_map_bytes(x, i, lane, at);
  if (!bytes) return false;
  const std::optional<TileMap> map = map_of(x, i, lane, at, *bytes, form);
  if (!map) return false;
  std::array<std::int32_t, kMaxTensorRank> coordinates = {};
  for (std::size_t k = 0; k < form.rank; ++k) {
    coordinates[k] = slot_at<std::int32_t>(x, i->u.list[k])[lane];
  }
  // Both measured on an H200 (driver 580.159); PTX ISA 9.0 does not say it.
  if (std::int64_t{coordinates[0]} * map->element_size() % kSwizzleChunk != 0) {
    bad_copy(
        x, i, lane,
        fmt::format("begins at element {} of the innermost dimension, {} bytes each: a box begins "
                    "at a multiple of {} bytes",
                    coordinates[0], map->element_size(), kSwizzleChunk));
    return false;
  }
  if (form.prefetches) return true;
  check_acquired(x, i, lane, at, *bytes);
  for (std::size_t k = 0; k < form.rank && !form.to_shared; ++k) {
    if (coordinates[k] >= 0) continue;
    bad_copy(x, i, lane,
             fmt::format("writes to a tensor from element {} on, of dimension {} counted from the "
                         "innermost: only loads begin below 0",
                         coordinates[k], k));
    return false;
  }
  const std::uint64_t extent = tile_extent(*map);
  if (extent > x->shared.size) {
    bad_copy(x, i, lane,
             fmt::format("moves a tile of {} bytes, where the block has {} bytes of shared memory",
                         extent, x->shared.size));
    return false;
  }
  const bool stores = !form.to_shared && !form.reduces;
  const TileEnd end = stores ? TileEnd::kChunk : TileEnd::kElement;
  std::array<std::uint16_t, kMaxTensorRank> offsets = {};
  const std::size_t offset_count = form.has_offsets ? map->image_rank() : 0;
  for (std::size_t k = 0; k < offset_count; ++k) {
    offsets[k] = slot_at<std::uint16_t>(x, i->u.list[form.rank + k])[lane];
  }
  const auto tile = std::make_shared<TensorTile>(
      form.unfolds
          ? make_unfolded_tile(*map, coordinates, std::span(offsets.data(), offset_count), end)
          : make_tile(*map, coordinates, end));
  if (form.reduces && !is_whole(*tile)) {
    fault(x, i, lane, CUDA_ERROR_NOT_SUPPORTED, driver::FindingKind::kUnsupported,
          fmt::format("reduces into rows of {} bytes: the effect on the {} bytes after their "
                      "end is not documented; make rows a multiple of {} bytes",
                      map->extents[0] * map->element_size(),
                      kSwizzleChunk - tile->runs[0].bytes % kSwizzleChunk, kSwizzleChunk));
    return false;
  }
  BulkCopy copy = begin_copy(x, i, lane);
  // Swizzling takes whole lines of shared memory.
  const std::uint32_t unit = tile->swizzle_bits == 0 ? kSwizzleChunk : kTileAlignment;
  const std::uint32_t taken = (tile->extent() + unit - 1) / unit * unit;
  const MemorySpan shared{Space::kGeneric, slot_at<std::uint64_t>(x, i->r[0])[lane], taken,
                          kTileAlignment};
  (form.to_shared ? copy.to : copy.from) = shared;
  copy.tile = tile;
  if (form.to_shared) {
    if (!check_runs(x, i, lane, form, *tile)) return false;
    std::optional<std::uint32_t> ranks;
    if (form.multicast) ranks = slot_at<std::uint32_t>(x, i->r[3])[lane];
    return send_to_shared(x, i, lane, copy, slot_at<std::uint64_t>(x, i->r[2])[lane], ranks);
  }
  if (form.reduces) {
    const std::optional<Type> type = type_of(map->type, form.op);
    if (type) copy.reduce = find_reduction(form.op, *type);
    if (!copy.reduce) {
      bad_copy(x, i, lane, "there is no such reduction of the tensor map's type");
      return false;
    }
  }
  if (!check_span(x, i, lane, copy.from, false)) return false;
  if (!check_runs(x, i, lane, form, *tile)) return false;
  send_to_global(x, lane, std::move(copy));
  return true;
}

}  // namespace

std::optional<TensorMapBytes> read_map_bytes(Exec* x, const Insn* i, int lane,
                                             std::uint64_t address) {
  const unsigned window = window_of(address);
  if (window == window_number(kSharedWindow) || window == window_number(kLocalWindow)) {
    bad_copy(
        x, i, lane,
        fmt::format("takes the tensor map at {:#x}, which must be a __grid_constant__ parameter, "
                    "or be in constant or global memory",
                    address));
    return std::nullopt;
  }
  return load_map_bytes(x, i, lane, address);
}

const Insn* op_tensor_copy(Exec* x, const Insn* i) {
  const auto form = std::bit_cast<TensorForm>(i->imm);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    if (!copy_one(x, i, std::countr_zero(left), form)) return nullptr;
  }
  return i + 1;
}

void perform_tile(Exec* x, BulkCopy& copy) {
  const TensorTile& tile = *copy.tile;
  const bool loads = copy.to.bytes != 0;
  std::byte* shared = loads           ? span_place(x, copy.to, true)
                      : copy.has_data ? copy.data.data()
                                      : span_place(x, copy.from, false);
  if (shared == nullptr || (copy.has_data && copy.data.size() < copy.from.bytes)) return;
  const std::uint32_t address = shared_offset((loads ? copy.to : copy.from).address);
  std::vector<std::byte> plain(tile.extent());  // not swizzled
  const auto each_chunk = [&](auto move) {
    for (std::uint32_t row = 0; row < tile.extent(); row += tile.pitch) {
      for (std::uint32_t at = row; at < row + tile.row; at += kSwizzleChunk) {
        move(shared + swizzled(tile, address, at), plain.data() + at);
      }
    }
  };
  if (loads) {
    fill_outside(tile, plain);
    for (const TensorTile::Run& run : tile.runs) {
      const std::byte* from = span_place(x, {Space::kGlobal, run.address, run.bytes, 1}, false);
      if (from == nullptr) continue;
      std::memcpy(plain.data() + run.at, from, run.bytes);
      convert_loaded(tile.type, {plain.data() + run.at, run.bytes});
    }
    each_chunk([](std::byte* in, const std::byte* out) { std::memcpy(in, out, kSwizzleChunk); });
    return;
  }
  each_chunk([](const std::byte* in, std::byte* out) { std::memcpy(out, in, kSwizzleChunk); });
  for (const TensorTile::Run& run : tile.runs) {
    std::byte* to = span_place(x, {Space::kGlobal, run.address, run.bytes, 1}, true);
    if (to == nullptr) continue;
    if (copy.reduce) {
      copy.reduce(to, plain.data() + run.at, run.bytes);
    } else {
      std::memcpy(to, plain.data() + run.at, run.bytes);
    }
  }
}

}  // namespace baton::sim
