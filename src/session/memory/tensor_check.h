#pragma once

#include <cstdint>

#include "baton/dlpack.h"

namespace baton {

// A tensor of another library, checked: contiguous in C order, of a type that Baton has, with an
// address if it has elements. Owns nothing.
struct CheckedTensor {
  DType dtype = DType::kF32;
  std::uint64_t bytes = 0;
  const void* data = nullptr;  // where its elements begin
  bool on_host = false;        // in memory of the host that no device uses

  DeviceAddress address() const { return reinterpret_cast<std::uintptr_t>(data); }
};

// Checks a tensor for use with a device. Throws kInvalidInput for one that is wrong, or in memory
// of another device; the message is a predicate, to which the caller adds the subject. Allocates
// nothing.
CheckedTensor check_tensor(const dlpack::Tensor& tensor, const Device& device);

// The bytes of an array, with 0 for one without elements. Throws as `check_tensor` does.
std::uint64_t count_bytes(Span<const std::int64_t> shape, DType dtype);

}  // namespace baton
