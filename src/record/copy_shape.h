#pragma once

#include <cstdint>
#include <string_view>

namespace baton::record {

// How the words of a recorded copy name its two sides.
enum class CopyShape : std::uint8_t {
  kOther,           // arrays and batches: not followed
  kHostToDevice,    // target, source, bytes
  kDeviceToHost,    // likewise
  kDeviceToDevice,  // likewise
  kAny,             // likewise; each side is the host's or a device's
  kPeer,            // target, its context, source, its context, bytes
  kRows,            // a CUDA_MEMCPY2D
  kSlices,          // a CUDA_MEMCPY3D
};

// Of a symbol, with or without _ptsz or _ptds; kOther for what is not a copy, too.
CopyShape copy_shape(std::string_view symbol);

}  // namespace baton::record
