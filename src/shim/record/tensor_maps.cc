// Hooks of the functions that make tensor maps. The layout of a map is not documented, so the
// record has the arguments that it was made from.

#include <cuda.h>

#include <cstring>
#include <optional>
#include <string_view>

#include "record/format.h"
#include "shim/record/journal.h"
#include "shim/record/real_driver.h"

namespace baton::recorder {
namespace {

using record::TensorMapKind;
using record::TensorMapNote;

decltype(&::cuTensorMapEncodeTiled) g_encode_tiled = nullptr;
decltype(&::cuTensorMapEncodeIm2col) g_encode_im2col = nullptr;
decltype(&::cuTensorMapReplaceAddress) g_replace_address = nullptr;

static_assert(sizeof(CUtensorMap) == sizeof TensorMapNote{}.map);

TensorMapNote note_of(TensorMapKind kind, const void* address) {
  TensorMapNote note;
  std::memset(&note, 0, sizeof note);
  note.kind = kind;
  note.address = reinterpret_cast<std::uintptr_t>(address);
  return note;
}

void write_map(TensorMapNote& note, const CUtensorMap& map) {
  std::memcpy(note.map, &map, sizeof note.map);
  recorder::note(record::EventKind::kTensorMap, 0, next_order(), 0, {{&note, sizeof note}});
}

CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                      CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                      CUtensorMapFloatOOBfill fill) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result = g_encode_tiled(map, type, rank, address, dims, strides, box,
                                         element_strides, interleave, swizzle, promotion, fill);
  if (is_inside || result != CUDA_SUCCESS || rank == 0 || rank > 5) return result;
  TensorMapNote note = note_of(TensorMapKind::kTiled, address);
  note.type = type;
  note.rank = rank;
  note.interleave = interleave;
  note.swizzle = swizzle;
  note.promotion = promotion;
  note.fill = fill;
  std::memcpy(note.dims, dims, rank * sizeof *dims);
  if (rank > 1) std::memcpy(note.strides, strides, (rank - 1) * sizeof *strides);
  std::memcpy(note.box, box, rank * sizeof *box);
  std::memcpy(note.element_strides, element_strides, rank * sizeof *element_strides);
  write_map(note, *map);
  return result;
}

CUresult encode_im2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                       const cuuint64_t* dims, const cuuint64_t* strides, const int* lower,
                       const int* upper, cuuint32_t channels, cuuint32_t pixels,
                       const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
                       CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                       CUtensorMapFloatOOBfill fill) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  const CUresult result =
      g_encode_im2col(map, type, rank, address, dims, strides, lower, upper, channels, pixels,
                      element_strides, interleave, swizzle, promotion, fill);
  if (is_inside || result != CUDA_SUCCESS) return result;
  TensorMapNote note = note_of(TensorMapKind::kIm2col, address);
  write_map(note, *map);
  return result;
}

CUresult replace_address(CUtensorMap* map, void* address) {
  const bool is_inside = InsideCall::is_on();
  const InsideCall inside;
  std::optional<CUtensorMap> before;
  if (map != nullptr) before = *map;
  const CUresult result = g_replace_address(map, address);
  if (is_inside || result != CUDA_SUCCESS || !before) return result;
  TensorMapNote note = note_of(TensorMapKind::kReplaced, address);
  std::memcpy(note.from, &*before, sizeof note.from);
  write_map(note, *map);
  return result;
}

}  // namespace

void* tensor_map_hook(std::string_view symbol, void* real) {
  const auto hooked = [real](auto& slot, auto hook) {
    slot = reinterpret_cast<std::remove_reference_t<decltype(slot)>>(real);
    return reinterpret_cast<void*>(hook);
  };
  if (symbol == "cuTensorMapEncodeTiled") return hooked(g_encode_tiled, &encode_tiled);
  if (symbol == "cuTensorMapEncodeIm2col") return hooked(g_encode_im2col, &encode_im2col);
  if (symbol == "cuTensorMapReplaceAddress") return hooked(g_replace_address, &replace_address);
  return nullptr;
}

}  // namespace baton::recorder
