#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
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
  template <typename U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) operator DevicePointer<U>() const {
    return {address};
  }
};

// Device memory in bytes. Owns it; movable. Freed when destroyed, after the work that was enqueued
// before. A zero-byte Memory is legal and has no address. Any thread may use it; the order of what
// they enqueue is theirs to decide.
class BATON_API Memory {
 public:
  // Throws kOutOfMemory with what was asked for and what is free.
  Memory(const Device& device, std::size_t bytes);
  // Memory that someone else owns; it stays allocated as long as `owner` lives.
  static Memory adopt(const Device& device, DeviceAddress address, std::size_t bytes,
                      std::shared_ptr<const void> owner = nullptr);
  Memory(Memory&&) noexcept;
  Memory& operator=(Memory&&) noexcept;
  ~Memory();

  const Device& device() const { return device_; }
  DeviceAddress address() const { return address_; }
  std::size_t bytes() const { return bytes_; }

  // Names it in findings and messages.
  void set_name(std::string_view name) const;

  // Enqueue on the stream and return. The host memory of an upload may be changed when the call
  // returns if it is pageable, and when the copy is done if it is page-locked; that of a download
  // holds the values when the copy is done. `offset` in bytes. Throws kInvalidInput where the range
  // leaves the memory.
  void upload(const void* source, std::size_t bytes, std::size_t offset,
              const Stream& stream) const;
  void download(void* target, std::size_t bytes, std::size_t offset, const Stream& stream) const;
  void copy_from(const Memory& source, std::size_t bytes, std::size_t source_offset,
                 std::size_t offset, const Stream& stream) const;
  // Repeats a value of `width` bytes (1, 2, 4 or 8) over `count` elements; `offset` in bytes, a
  // multiple of the width.
  void fill(std::uint64_t value, unsigned width, std::size_t count, std::size_t offset,
            const Stream& stream) const;

 private:
  Memory(Device device, DeviceAddress address, std::size_t bytes, std::shared_ptr<const void> owner,
         bool owned)
      : device_(std::move(device)),
        address_(address),
        bytes_(bytes),
        owner_(std::move(owner)),
        owned_(owned) {}
  void check_range(const char* what, std::size_t bytes, std::size_t offset) const;
  void release() noexcept;

  Device device_;
  DeviceAddress address_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<const void> owner_;
  bool owned_ = true;
};

namespace detail {
// Bytes of an array; throws kOutOfMemory where no size_t holds them.
BATON_API std::size_t array_bytes(std::size_t count, std::size_t size);
}  // namespace detail

// A typed array in device memory. Owns it; movable; may be used by several threads as far as the
// work they enqueue allows.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types");

 public:
  Buffer(const Device& device, std::size_t count)
      : memory_(device, detail::array_bytes(count, sizeof(T))), count_(count) {}

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
  // The same at once: they wait for all work on the device, copy, and return when that is done.
  void upload(std::span<const T> values) const {
    memory_.device().synchronize();
    Stream stream(memory_.device());
    upload(values, stream);
    stream.synchronize();
  }
  // (No std::vector<bool> holds an array of bool: download those into a span.)
  std::vector<T> download() const requires(!std::is_same_v<T, bool>) {
    memory_.device().synchronize();
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

// Page-locked host memory in bytes: the device copies from and to it without a staging buffer, so
// such copies overlap with kernels. Owns it; movable; must outlive the copies enqueued on it.
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

// A typed array in page-locked host memory; its elements start out undefined.
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
  operator std::span<T>() const { return {data(), count_}; }
  operator std::span<const T>() const { return {data(), count_}; }

 private:
  PinnedMemory memory_;
  std::size_t count_ = 0;
};

}  // namespace baton
