#include "baton/dlpack.h"

#include <utility>

#include "base/array/array.h"
#include "base/error.h"
#include "baton/metadata.h"
#include "runtime/device_state.h"
#include "session/memory/tensor_check.h"

namespace baton::dlpack {
namespace {

constexpr std::int32_t kCuda = 2;
constexpr std::uint32_t kMajor = 1;

// Calls what says only what is wrong of a tensor.
template <typename Check>
auto of_tensor(Check&& check) {
  try {
    return check();
  } catch (const Error& failure) {
    throw error(failure.code(), "the tensor {}", failure.message());
  }
}

ElementType element_type(DType dtype) {
  const MetadataType type = MetadataType::of(dtype);
  return {static_cast<std::uint8_t>(type.code), static_cast<std::uint8_t>(type.bits),
          static_cast<std::uint16_t>(type.lanes)};
}

// A tensor that Baton made, with what it keeps.
struct Shared {
  ManagedTensor managed;
  std::vector<std::int64_t> shape, strides;
  std::shared_ptr<const void> owner;
};

void end(ManagedTensor* self) {
  delete static_cast<Shared*>(self->manager_ctx);
}

}  // namespace

View view(const Tensor& tensor, const Device& device) {
  const CheckedTensor checked = of_tensor([&] { return check_tensor(tensor, device); });
  return {checked.dtype,
          {tensor.shape, tensor.shape + tensor.ndim},
          checked.bytes,
          checked.data,
          checked.on_host};
}

DeviceArray device_array(const ManagedTensor& tensor, const Device& device, Access access) {
  if (tensor.version.major != kMajor) {
    throw error(ErrorCode::kInvalidInput,
                "the tensor is of DLPack {}.{}, this release of Baton reads version {}",
                tensor.version.major, tensor.version.minor, kMajor);
  }
  View checked = view(tensor.tensor, device);
  if (checked.on_host) {
    throw error(ErrorCode::kInvalidInput,
                "the tensor is in memory of the host, which no kernel can read; copy it to {}",
                device.spec());
  }
  if ((tensor.flags & kReadOnly) != 0 && access != Access::kRead) {
    throw error(ErrorCode::kInvalidInput,
                "the tensor is read-only, and steps may write it; copy it, or take it for "
                "reading alone if nothing writes it");
  }
  return {checked.dtype, std::move(checked.shape), reinterpret_cast<DeviceAddress>(checked.data)};
}

Owned share(const Device& device, const DeviceArray& array, std::shared_ptr<const void> owner,
            Access access) {
  const std::uint64_t bytes = of_tensor([&] { return count_bytes(array.shape, array.dtype); });
  if (bytes != 0 && array.address == 0) {
    throw error(ErrorCode::kInvalidInput, "the tensor has {} bytes and a null address", bytes);
  }
  auto shared = std::make_unique<Shared>();
  shared->owner = std::move(owner);
  shared->shape = array.shape;
  shared->strides.resize(array.shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = array.shape.size(); i-- > 0;) {
    shared->strides[i] = stride;
    stride *= bytes == 0 ? 1 : array.shape[i];
  }
  ManagedTensor& managed = shared->managed;
  managed.flags = access == Access::kRead ? kReadOnly : 0;
  managed.tensor.data = reinterpret_cast<void*>(array.address);
  managed.tensor.device = {kCuda, device.identity()->ordinal()};
  managed.tensor.ndim = static_cast<std::int32_t>(array.shape.size());
  managed.tensor.dtype = element_type(array.dtype);
  managed.tensor.shape = shared->shape.data();
  // DLPack 1.2 wants strides even of contiguous tensors.
  managed.tensor.strides = shared->strides.data();
  managed.manager_ctx = shared.get();
  managed.deleter = end;
  return Owned(&shared.release()->managed);
}

Owned share(std::shared_ptr<const Memory> memory, DType dtype, std::vector<std::int64_t> shape,
            Access access) {
  if (memory == nullptr) throw error(ErrorCode::kInvalidInput, "share: memory is a null pointer");
  const std::uint64_t bytes = of_tensor([&] { return count_bytes(shape, dtype); });
  if (bytes > memory->bytes()) {
    throw error(ErrorCode::kInvalidInput,
                "a tensor of {} {} has {} bytes, the memory has {}; give it a smaller shape",
                to_string(dtype), shape_text(shape), bytes, memory->bytes());
  }
  const DeviceArray array{dtype, std::move(shape), memory->address()};
  const Device device = memory->device();
  return share(device, array, std::move(memory), access);
}

}  // namespace baton::dlpack
