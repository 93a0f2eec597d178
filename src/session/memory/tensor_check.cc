#include "session/memory/tensor_check.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/array/array.h"
#include "base/error.h"
#include "baton/metadata.h"
#include "runtime/device_state.h"

namespace baton {
namespace {

using dlpack::ElementType;
using dlpack::Tensor;

// DLPack's DLDeviceType, as far as memory of it concerns CUDA: dlpack.h of DLPack 1.3,
// https://github.com/dmlc/dlpack.
struct TensorDevice {
  std::int32_t type;
  std::string_view name;
  enum class Use : std::uint8_t {
    kHost,       // no kernel can read it
    kOneDevice,  // memory of the device with that id
    kAnyDevice,  // every device of the driver can read it
  } use;
};
constexpr TensorDevice kTensorDevices[] = {
    {1, "CPU", TensorDevice::Use::kHost},
    {2, "CUDA", TensorDevice::Use::kOneDevice},
    {3, "CUDA host", TensorDevice::Use::kAnyDevice},
    {13, "CUDA managed", TensorDevice::Use::kAnyDevice},
};
constexpr std::int32_t kCuda = 2;
// As many as arrays of NumPy and PyTorch have. More are not a number of dimensions, and so many
// extents are not there to be read.
constexpr std::int32_t kMostDimensions = 64;

const TensorDevice& device_of(const Tensor& tensor, const Device& device) {
  const std::int32_t type = tensor.device.type;
  for (const TensorDevice& known : kTensorDevices) {
    if (known.type != type) continue;
    const int ordinal = device.identity()->ordinal();
    if (known.use == TensorDevice::Use::kOneDevice && tensor.device.id != ordinal) {
      throw error(ErrorCode::kInvalidInput,
                  "is in memory of the device {} (DLPack type {}, id {}); {} is type "
                  "{}, id {}",
                  known.name, type, tensor.device.id, device.spec(), kCuda, ordinal);
    }
    return known;
  }
  throw error(ErrorCode::kInvalidInput,
              "is in memory of DLPack's device type {}, which no CUDA device can read; "
              "{} is type {}, id {}",
              type, device.spec(), kCuda, device.identity()->ordinal());
}

// DLPack's numbers for a type and those of launch metadata are the same.
DType dtype_of(const ElementType& type) {
  const auto known =
      MetadataType{static_cast<MetadataType::Code>(type.code), type.bits, type.lanes}.dtype();
  if (known) return *known;
  throw error(ErrorCode::kInvalidInput,
              "has elements of DLPack's type code {} with {} bits and {} lanes, for "
              "which Baton has no dtype; pass its address instead",
              type.code, type.bits, type.lanes);
}

// Strides of axes with one element say nothing.
void require_contiguous(std::span<const std::int64_t> shape, const std::int64_t* strides) {
  std::int64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) {
      throw error(ErrorCode::kInvalidInput,
                  "is not contiguous: axis {} has the stride {} in elements, C order "
                  "has {}; copy it, or pass its address instead",
                  i, strides[i], expected);
    }
    expected *= shape[i];
  }
}

}  // namespace

std::uint64_t count_bytes(Span<const std::int64_t> shape, DType dtype) {
  bool empty = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      throw error(ErrorCode::kInvalidInput, "has the extent {} along axis {}", shape[i], i);
    }
    empty |= shape[i] == 0;
  }
  if (empty) return 0;
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) {
      throw error(ErrorCode::kInvalidInput, "has the shape {}, more bytes than 64 bits can count",
                  shape_text({shape.begin(), shape.end()}));
    }
  }
  return bytes;
}

CheckedTensor check_tensor(const Tensor& tensor, const Device& device) {
  const TensorDevice& place = device_of(tensor, device);
  CheckedTensor checked;
  checked.on_host = place.use == TensorDevice::Use::kHost;
  checked.dtype = dtype_of(tensor.dtype);
  if (tensor.ndim < 0 || tensor.ndim > kMostDimensions) {
    throw error(ErrorCode::kInvalidInput, "has {} dimensions; 0 to {} are possible", tensor.ndim,
                kMostDimensions);
  }
  const auto ndim = static_cast<std::size_t>(tensor.ndim);
  if (ndim != 0 && tensor.shape == nullptr) {
    throw error(ErrorCode::kInvalidInput, "has {} dimensions and no shape", ndim);
  }
  const std::span<const std::int64_t> shape(tensor.shape, ndim);
  checked.bytes = count_bytes({shape.data(), shape.size()}, checked.dtype);
  if (checked.bytes == 0) return checked;
  if (tensor.strides != nullptr) require_contiguous(shape, tensor.strides);
  const std::size_t size = size_of(checked.dtype);
  if (tensor.data == nullptr) {
    throw error(ErrorCode::kInvalidInput, "has {} elements and a null address",
                checked.bytes / size);
  }
  std::uintptr_t address = 0, end = 0;
  if (__builtin_add_overflow(reinterpret_cast<std::uintptr_t>(tensor.data), tensor.byte_offset,
                             &address) ||
      __builtin_add_overflow(address, checked.bytes, &end)) {
    throw error(ErrorCode::kInvalidInput,
                "begins {} bytes after {:#x} and has {} bytes, beyond the last address",
                tensor.byte_offset, reinterpret_cast<std::uintptr_t>(tensor.data), checked.bytes);
  }
  checked.data = reinterpret_cast<const std::byte*>(address);
  if (!checked.on_host && checked.address() % size != 0) {
    throw error(ErrorCode::kInvalidInput,
                "is at the address {:#x}, which is not a multiple of the {} bytes of {}",
                checked.address(), size, to_string(checked.dtype));
  }
  return checked;
}

}  // namespace baton
