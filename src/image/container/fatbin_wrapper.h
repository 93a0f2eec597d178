#pragma once

#include <cstdint>

namespace baton::image {

// What programs of nvcc hand to the driver in place of a fatbin (fatbinary_section.h).
struct FatbinWrapper {
  static constexpr std::uint32_t kMagic = 0x466243B1;
  static constexpr std::uint32_t kVersionOfJoined = 2;

  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  const void* fatbin = nullptr;
  // In version 2: the fatbins of the objects that nvlink joined (-rdc=true), and a null after them.
  const void* const* joined = nullptr;

  bool has_joined() const { return version == kVersionOfJoined && joined != nullptr; }
};

}  // namespace baton::image
