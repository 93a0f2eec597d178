#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "baton/bindings.h"
#include "baton/buffer.h"
#include "baton/device.h"
#include "baton/dtype.h"
#include "baton/export.h"

// Tensors of other libraries, by DLPack 1.x. The structs have the layout of those in dlpack.h, so
// pointers to them may be cast: Tensor is DLTensor, ManagedTensor is DLManagedTensorVersioned.
// Functions may be called by any thread.
namespace baton::dlpack {

// DLPackVersion.
struct Version {
  std::uint32_t major = 1;
  std::uint32_t minor = 0;
};

// DLDevice. The simulated GPU counts as CUDA too.
struct Place {
  std::int32_t type = 2;  // DLDeviceType: 1 CPU, 2 CUDA, 3 CUDA host, 13 CUDA managed
  std::int32_t id = 0;    // among the devices of that type
};

// DLDataType.
struct ElementType {
  std::uint8_t code = 0;  // DLDataTypeCode
  std::uint8_t bits = 0;
  std::uint16_t lanes = 0;
};

// DLTensor: describes memory, and owns nothing.
struct Tensor {
  void* data = nullptr;
  Place device;
  std::int32_t ndim = 0;
  ElementType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;  // in elements; null: contiguous in C order
  std::uint64_t byte_offset = 0;    // of the first element, from `data` on
};

// In `flags`: the elements must not be written.
inline constexpr std::uint64_t kReadOnly = 1;

// DLManagedTensorVersioned: whoever takes it calls the deleter at the end, once, from any thread.
struct ManagedTensor {
  Version version;
  void* manager_ctx = nullptr;
  void (*deleter)(ManagedTensor* self) = nullptr;  // may be null
  std::uint64_t flags = 0;
  Tensor tensor;
};

// Calls the deleter.
struct Release {
  void operator()(ManagedTensor* tensor) const noexcept {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
  }
};
using Owned = std::unique_ptr<ManagedTensor, Release>;

enum class Access : std::uint8_t {
  kReadWrite,
  kRead,  // out: the tensor is marked as read-only; in: a read-only tensor is taken
};

// A tensor, checked for use with a device: contiguous in C order, of a type that Baton has, with an
// address if it has elements. Owns nothing.
struct View {
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
  const void* data = nullptr;  // where its elements begin
  bool on_host = false;        // in memory of the host that no device uses
};

// Throws kInvalidInput for a tensor that is wrong, in memory of another device, or of another
// layout than C order. Messages say "the tensor has …".
BATON_API View view(const Tensor& tensor, const Device& device);
// The same of device memory that kernels access, such as for Bindings::memory. Nothing is copied:
// the tensor must live as long as the memory is used. Throws kInvalidInput also for memory of the
// host, another major version, and a read-only tensor unless the caller reads alone.
BATON_API DeviceArray device_array(const ManagedTensor& tensor, const Device& device,
                                   Access access = Access::kReadWrite);

// Makes a tensor of memory on the device, for another library. `owner` stays until the deleter is
// called; without one, the memory must outlive the tensor. The consumer orders its work after work
// that was enqueued here. Release a tensor that no library takes; otherwise pass `release()` on.
BATON_API Owned share(const Device& device, const DeviceArray& array,
                      std::shared_ptr<const void> owner = {}, Access access = Access::kReadWrite);
// The same of allocated memory, which stays until the deleter is called. Throws kInvalidInput for a
// null pointer, a negative extent, and a shape that needs more bytes than the memory has.
BATON_API Owned share(std::shared_ptr<const Memory> memory, DType dtype,
                      std::vector<std::int64_t> shape, Access access = Access::kReadWrite);

}  // namespace baton::dlpack
