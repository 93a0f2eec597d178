#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "baton/allocator.h"
#include "baton/forward.h"
#include "baton/span.h"
#include "baton/stream.h"

namespace baton {

// An address in device memory with its element type: the argument for a kernel's pointer parameter.
// Owns nothing. Wrap the address of a foreign allocation: DevicePointer<float>{address}.
template <typename T>
struct DevicePointer {
  DeviceAddress address = 0;

  friend DevicePointer operator+(DevicePointer p, std::ptrdiff_t elements) {
    return {p.address +
            static_cast<DeviceAddress>(elements * static_cast<std::ptrdiff_t>(sizeof(T)))};
  }
  template <typename U,
            typename = std::enable_if_t<std::is_same_v<U, const T> && !std::is_const_v<T>>>
  operator DevicePointer<U>() const {
    return {address};
  }
};

// The device address that a pointer of another API holds (cudaMalloc, an allocator of your own). It
// is taken at its word: a host address compiles too, and a kernel faults on it.
template <typename T>
DevicePointer<T> device_pointer(T* address) {
  return {reinterpret_cast<DeviceAddress>(address)};
}
inline DevicePointer<std::byte> device_pointer(void* address) {
  return {reinterpret_cast<DeviceAddress>(address)};
}
inline DevicePointer<const std::byte> device_pointer(const void* address) {
  return {reinterpret_cast<DeviceAddress>(address)};
}

// Owns device memory, measured in bytes. Movable. The destructor frees it after the work that was
// enqueued before. A Memory of zero bytes is valid and has no address. Any thread may use it; the
// callers decide the order of the work they enqueue.
class BATON_API Memory {
 public:
  // Throws kOutOfMemory with the requested and the free bytes.
  Memory(const Device& device, std::size_t bytes);
  // Takes the memory from the allocator, or from the driver where it is null. Throws kOutOfMemory
  // if the allocator has none, kInvalidInput for an address that 256 does not divide, and what
  // the allocator throws.
  Memory(const Device& device, std::size_t bytes, std::shared_ptr<Allocator> allocator);
  // Allocates in the order of the stream, from the device's memory pool (cuMemAllocAsync). Work
  // that is enqueued on the stream later may use the memory; work of other streams, once they wait
  // for an event of this one. The destructor frees it in the order of the same stream, without a
  // wait; the stream must exist until then. In a stream capture, allocation and release become
  // nodes of the graph, where the device supports it. Throws kOutOfMemory.
  static Memory in_order(const Stream& stream, std::size_t bytes);
  // Uses memory of another owner. The memory must stay allocated as long as this object; `owner`,
  // if given, is kept alive that long.
  static Memory adopt(const Device& device, DeviceAddress address, std::size_t bytes,
                      std::shared_ptr<const void> owner = nullptr);
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory&&) noexcept;
  ~Memory();

  // Makes the destructor free memory of `in_order` in the order of another stream, whose work used
  // it last. Throws kInvalidInput for other memory, and for a stream of another device.
  void free_in_order(const Stream& stream);

  const Device& device() const { return device_; }
  DeviceAddress address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

  // Sets the name that findings and messages use.
  void set_name(std::string_view name) const;

  // These calls enqueue on the stream and return. `bytes` and `offset` count bytes. After an upload
  // from pageable memory returns, the caller may change the host memory; with page-locked memory,
  // only after the copy has completed. A download's host memory is valid after the copy has
  // completed. They throw kInvalidInput if the range exceeds the memory.
  void upload(const void* source, std::size_t bytes, std::size_t offset,
              const Stream& stream) const;
  void download(void* target, std::size_t bytes, std::size_t offset, const Stream& stream) const;
  void copy_from(const Memory& source, std::size_t bytes, std::size_t source_offset,
                 std::size_t offset, const Stream& stream) const;
  // Repeats a value of `width` bytes (1, 2, 4 or 8) over `count` elements. `offset` counts bytes
  // and is a multiple of `width`.
  void fill(std::uint64_t value, unsigned width, std::size_t count, std::size_t offset,
            const Stream& stream) const;

 private:
  // The end of the memory.
  enum class End : std::uint8_t { kFree, kOwner, kAllocator, kStream };
  Memory(Device device, DeviceAddress address, std::size_t bytes, End end)
      : device_(std::move(device)), address_(address), bytes_(bytes), end_(end) {}
  void check_range(const char* what, std::size_t bytes, std::size_t offset) const;
  void release() noexcept;

  Device device_;
  DeviceAddress address_ = 0;
  std::size_t bytes_ = 0;
  End end_ = End::kFree;
  NativeStream stream_ = nullptr;         // kStream: the stream that frees
  std::shared_ptr<const void> owner_;     // kOwner
  std::shared_ptr<Allocator> allocator_;  // kAllocator
};

namespace detail {
// The bytes of an array. Throws kOutOfMemory if they exceed a size_t.
BATON_API std::size_t array_bytes(std::size_t count, std::size_t size);
}  // namespace detail

// Owns a typed array in device memory. Movable. Several threads may use it as far as the work they
// enqueue allows.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");

 public:
  Buffer(const Device& device, std::size_t count)
      : memory_(device, detail::array_bytes(count, sizeof(T))), count_(count) {}
  // In the order of the stream; see Memory::in_order.
  static Buffer in_order(const Stream& stream, std::size_t count) {
    return Buffer(Memory::in_order(stream, detail::array_bytes(count, sizeof(T))), count);
  }

  // Returns a new buffer with a copy of `values`.
  static Buffer of(const Device& device, Span<const T> values) {
    Buffer buffer(device, values.size());
    buffer.upload(values);
    return buffer;
  }

  std::size_t size() const { return count_; }
  const Memory& memory() const { return memory_; }
  DevicePointer<T> data() const { return {memory_.address()}; }
  operator DevicePointer<T>() const { return data(); }
  template <typename U,
            typename = std::enable_if_t<std::is_same_v<U, const T> && !std::is_const_v<T>>>
  operator DevicePointer<U>() const {
    return {memory_.address()};
  }

  void upload(Span<const T> values, const Stream& stream) const {
    memory_.upload(values.data(), values.size_bytes(), 0, stream);
  }
  void download(Span<T> values, const Stream& stream) const {
    memory_.download(values.data(), values.size_bytes(), 0, stream);
  }
  // The synchronous forms. They wait for all work on the device, copy, and return after the copy
  // has completed.
  void upload(Span<const T> values) const {
    memory_.device().synchronize();
    Stream stream(memory_.device());
    upload(values, stream);
    stream.synchronize();
  }
  // (std::vector<bool> is not an array of bool: download such values into a span.)
  template <typename U = T, typename = std::enable_if_t<!std::is_same_v<U, bool>>>
  std::vector<U> download() const {
    memory_.device().synchronize();
    std::vector<T> values(count_);
    Stream stream(memory_.device());
    download(values, stream);
    stream.synchronize();
    return values;
  }

 private:
  Buffer(Memory memory, std::size_t count) : memory_(std::move(memory)), count_(count) {}

  Memory memory_;
  std::size_t count_ = 0;
};

// Owns page-locked host memory, measured in bytes. The device copies from and to it without a
// staging buffer, so these copies overlap with kernels. Movable. It must outlive the copies that
// are enqueued on it.
class BATON_API PinnedMemory {
 public:
  PinnedMemory(const Device& device, std::size_t bytes);
  PinnedMemory(PinnedMemory&&) noexcept;
  PinnedMemory& operator=(PinnedMemory&&) noexcept;
  ~PinnedMemory();

  const Device& device() const { return device_; }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void release() noexcept;

  Device device_;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Owns a typed array in page-locked host memory. Its elements start undefined. Movable.
template <typename T>
class PinnedBuffer {
  static_assert(std::is_trivially_copyable_v<T>, "pinned memory holds trivially copyable types");

 public:
  PinnedBuffer(const Device& device, std::size_t count)
      : memory_(device, detail::array_bytes(count, sizeof(T))), count_(count) {}

  std::size_t size() const { return count_; }
  T* data() const { return static_cast<T*>(memory_.data()); }
  T& operator[](std::size_t index) const { return data()[index]; }
  T* begin() const { return data(); }
  T* end() const { return data() + count_; }
  operator Span<T>() const { return {data(), count_}; }
  operator Span<const T>() const { return {data(), count_}; }

 private:
  PinnedMemory memory_;
  std::size_t count_ = 0;
};

}  // namespace baton
