#pragma once

#include <cstdint>
#include <vector>

#include "baton.h"
#include "baton/device.h"
#include "baton/dtype.h"
#include "baton/native.h"

namespace baton::capi {

// A tensor of the caller, checked: contiguous in C order, of a type that Baton has, with an address
// if it has elements. Owns nothing.
struct CheckedTensor {
  DType dtype = DType::kF32;
  std::uint64_t bytes = 0;
  const void* data = nullptr;  // where its elements begin
  bool on_host = false;        // in memory of the host that no device uses

  DeviceAddress address() const { return reinterpret_cast<std::uintptr_t>(data); }
};

// Checks a tensor for use with a device. Throws kInvalidInput for one that is wrong, or in memory
// of another device; the message is a predicate, to which the caller adds the subject.
CheckedTensor check_tensor(const baton_tensor& tensor, const Device& device);

// Its extents; of a checked tensor.
std::vector<std::int64_t> shape_of(const baton_tensor& tensor);

}  // namespace baton::capi
