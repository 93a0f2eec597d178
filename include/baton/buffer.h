#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "baton/stream.h"

namespace baton {

// An address in device memory with its element type: what a kernel's pointer parameter takes. It
// owns nothing.
template <typename T>
struct DevicePointer {
  DeviceAddress address = 0;

  friend DevicePointer operator+(DevicePointer p, std::ptrdiff_t elements) {
    return {p.address +
            static_cast<DeviceAddress>(elements * static_cast<std::ptrdiff_t>(sizeof(T)))};
  }
  operator DevicePointer<const T>() const requires(!std::is_const_v<T>) { return {address}; }
};

// Device memory in bytes. Owns it; movable. Freed when destroyed, after the work that was enqueued
// before. A zero-byte Memory is legal and has no address.
class BATON_API Memory {
 public:
  Memory(const Device& device, std::size_t bytes);
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory&&) noexcept;
  ~Memory();

  const Device& device() const { return device_; }
  DeviceAddress address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

  // Names it in findings and messages.
  void set_name(std::string_view name) const;

  // Enqueue on the stream and return; the host memory must stay alive until the copy is done,
  // which for pageable memory is when the call returns for uploads and after synchronisation for
  // downloads. `offset` in bytes. Throws kInvalidInput where the range leaves the memory.
  void upload(const void* source, std::size_t bytes, std::size_t offset,
              const Stream& stream) const;
  void download(void* target, std::size_t bytes, std::size_t offset, const Stream& stream) const;
  void copy_from(const Memory& source, std::size_t bytes, std::size_t source_offset,
                 std::size_t offset, const Stream& stream) const;
  // Repeats a value of 1, 2, 4 or 8 bytes over `count` elements.
  void fill(std::uint64_t value, unsigned width, std::size_t count, std::size_t offset,
            const Stream& stream) const;

 private:
  Device device_;
  DeviceAddress address_ = 0;
  std::size_t bytes_ = 0;
};

// A typed array in device memory. Owns it; movable; may be used by several threads as far as the
// work they enqueue allows.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");

 public:
  Buffer(const Device& device, std::size_t count)
      : memory_(device, count * sizeof(T)), count_(count) {}

  // A new buffer that holds a copy of `values`.
  static Buffer of(const Device& device, std::span<const T> values) {
    Buffer buffer(device, values.size());
    buffer.upload(values);
    return buffer;
  }

  std::size_t size() const { return count_; }
  const Memory& memory() const { return memory_; }
  DevicePointer<T> data() const { return {memory_.address()}; }
  operator DevicePointer<T>() const { return data(); }
  operator DevicePointer<const T>() const requires(!std::is_const_v<T>) {
    return {memory_.address()};
  }

  void upload(std::span<const T> values, const Stream& stream) const {
    memory_.upload(values.data(), values.size_bytes(), 0, stream);
  }
  void download(std::span<T> values, const Stream& stream) const {
    memory_.download(values.data(), values.size_bytes(), 0, stream);
  }
  // The same on a stream of their own, waiting until the copy is done.
  void upload(std::span<const T> values) const {
    Stream stream(memory_.device());
    upload(values, stream);
    stream.synchronize();
  }
  std::vector<T> download() const {
    std::vector<T> values(count_);
    Stream stream(memory_.device());
    download(values, stream);
    stream.synchronize();
    return values;
  }

 private:
  Memory memory_;
  std::size_t count_ = 0;
};

// Page-locked host memory: copies from and to it do not pass through a staging buffer.
template <typename T>
class PinnedBuffer;

}  // namespace baton
