#pragma once

#include <cstdint>

#include "baton/metadata.h"

namespace baton::metadata {

// The type of those numbers, where a kernel parameter can have it.
std::optional<MetadataType> make_type(std::uint8_t code, std::uint8_t bits, std::uint16_t lanes);

}  // namespace baton::metadata
