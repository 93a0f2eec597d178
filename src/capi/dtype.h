#pragma once

#include <optional>

#include "baton.h"
#include "baton/dtype.h"
#include "baton/metadata.h"

namespace baton::capi {

// DLPack's numbers for a type and those of launch metadata are the same: MetadataType has the
// table.

// Empty for a type that Baton does not have.
inline std::optional<DType> dtype_of(const baton_dtype& given) {
  return MetadataType{static_cast<MetadataType::Code>(given.code), given.bits, given.lanes}.dtype();
}

// No bits for no type.
inline baton_dtype to_c(std::optional<DType> dtype) {
  if (!dtype) return {0, 0, 0};
  const MetadataType type = MetadataType::of(*dtype);
  return {static_cast<std::uint8_t>(type.code), type.bits, type.lanes};
}

}  // namespace baton::capi
