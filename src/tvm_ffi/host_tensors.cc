#include "tvm_ffi/host_tensors.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tvm_ffi/device_types.h"
#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {
namespace {

// Vector loads take at most 16 bytes: tensors keep their place relative to that.
constexpr std::size_t kAlignment = 16;

// The bytes of a contiguous tensor.
std::size_t bytes_of_tensor(const baton_tensor& tensor, std::string_view what) {
  std::size_t elements = 1;
  for (std::int32_t i = tensor.ndim; i-- > 0;) {
    const std::int64_t extent = tensor.shape[i];
    if (extent < 0 ||
        __builtin_mul_overflow(elements, static_cast<std::size_t>(extent), &elements)) {
      fail("ValueError", "{} has the extent {} along axis {}", what, extent, i);
    }
  }
  if (elements == 0) return 0;
  std::int64_t expected = 1;
  for (std::int32_t i = tensor.ndim; i-- > 0 && tensor.strides != nullptr;) {
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) {
      fail("ValueError",
           "{} is not contiguous: axis {} has the stride {} in elements, C order has {}; copy it",
           what, i, tensor.strides[i], expected);
    }
    expected *= tensor.shape[i];
  }
  const std::size_t bits = std::size_t{tensor.dtype.bits} * tensor.dtype.lanes;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(elements, (bits + 7) / 8, &bytes)) {
    fail("ValueError", "{} has more bytes than 64 bits can count", what);
  }
  if (tensor.data == nullptr) {
    fail("ValueError", "{} has {} elements and a null address", what, elements);
  }
  return bytes;
}

}  // namespace

std::size_t HostTensors::Group::lead() const {
  return reinterpret_cast<std::uintptr_t>(begin) % kAlignment;
}

void HostTensors::add(const baton_tensor& tensor, std::string what, bool written) {
  const std::size_t bytes = bytes_of_tensor(tensor, what);
  auto* const begin = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  given_.push_back({tensor, begin, bytes, written, std::move(what)});
}

void HostTensors::make_groups() {
  std::vector<std::size_t> order(given_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return given_[a].begin < given_[b].begin; });
  for (const std::size_t index : order) {
    Given& one = given_[index];
    if (one.bytes == 0) continue;
    std::byte* const end = one.begin + one.bytes;
    if (groups_.empty() || one.begin >= groups_.back().end) {
      groups_.push_back({one.begin, end, one.written, one.name});
    } else {
      Group& last = groups_.back();
      last.end = std::max(last.end, end);
      last.written |= one.written;
      last.name += " and " + one.name;
    }
    one.group = groups_.size() - 1;
  }
}

void HostTensors::upload(const OpenDevice& device, const baton_stream* stream) {
  ordinal_ = device.ordinal();
  make_groups();
  for (Group& group : groups_) {
    check(baton_memory_alloc(device.get(), group.lead() + group.bytes(), group.memory.out()));
    check(baton_memory_set_name(group.memory.get(), group.name.c_str()));
    void* address = nullptr;
    check(baton_memory_address(group.memory.get(), &address));
    group.address = static_cast<std::byte*>(address) + group.lead();
    check(
        baton_memory_upload(group.memory.get(), group.lead(), group.begin, group.bytes(), stream));
  }
}

baton_tensor HostTensors::on_device(std::size_t index) const {
  const Given& one = given_[index];
  baton_tensor tensor = one.tensor;
  tensor.device.device_type = kCuda;
  tensor.device.device_id = ordinal_;
  tensor.byte_offset = 0;
  tensor.data = nullptr;
  if (one.bytes != 0) {
    const Group& group = groups_[one.group];
    tensor.data = group.address + (one.begin - group.begin);
  }
  return tensor;
}

void HostTensors::download(const baton_stream* stream) const {
  for (const Group& group : groups_) {
    if (!group.written) continue;
    check(baton_memory_download(group.memory.get(), group.lead(), group.begin, group.bytes(),
                                stream));
  }
}

}  // namespace baton::tvm_ffi
