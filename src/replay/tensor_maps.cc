#include "replay/tensor_maps.h"

#include <cuda.h>

#include <cstring>
#include <string_view>

#include "driver/driver.h"

namespace baton::replay {
namespace {

using record::TensorMapKind;
using record::TensorMapNote;

std::string_view bytes_of(const std::uint8_t (&map)[kTensorMapBytes]) {
  return {reinterpret_cast<const char*>(map), kTensorMapBytes};
}

}  // namespace

void ReplayTensorMaps::follow(const record::RecordedEvent& event) {
  TensorMapNote note = record::tensor_map_of(event);
  if (note.kind == TensorMapKind::kReplaced) {
    const auto from = maps_.find(bytes_of(note.from));
    if (from != maps_.end()) {
      TensorMapNote changed = from->second;
      changed.address = note.address;
      std::memcpy(changed.map, note.map, sizeof note.map);
      note = changed;
    }
  }
  std::uint64_t first = 0;
  std::memcpy(&first, note.map, sizeof first);
  first_words_.insert(first);
  maps_[std::string(bytes_of(note.map))] = note;
}

MapReplacer::Replaced ReplayTensorMaps::replace(char* map, const ReplayMemory& memory,
                                                Moved& moved) const {
  std::uint64_t first = 0;
  std::memcpy(&first, map, sizeof first);
  if (!first_words_.contains(first)) return Replaced::kNoMap;
  const auto found = maps_.find(std::string_view(map, kTensorMapBytes));
  if (found == maps_.end()) return Replaced::kNoMap;
  const TensorMapNote& note = found->second;
  const auto place = memory.find(note.address);
  const driver::Driver& driver = device_.driver();
  if (note.kind != TensorMapKind::kTiled || !place || driver.cuTensorMapEncodeTiled == nullptr) {
    return Replaced::kNotMade;
  }
  CUtensorMap made;
  const CUresult result = driver.cuTensorMapEncodeTiled(
      &made, static_cast<CUtensorMapDataType>(note.type), note.rank,
      reinterpret_cast<void*>(place->address), note.dims, note.strides, note.box,
      note.element_strides, static_cast<CUtensorMapInterleave>(note.interleave),
      static_cast<CUtensorMapSwizzle>(note.swizzle),
      static_cast<CUtensorMapL2promotion>(note.promotion),
      static_cast<CUtensorMapFloatOOBfill>(note.fill));
  if (result != CUDA_SUCCESS) return Replaced::kNotMade;
  std::memcpy(map, &made, sizeof made);
  moved.memories.insert(place->memory);
  return Replaced::kMade;
}

}  // namespace baton::replay
