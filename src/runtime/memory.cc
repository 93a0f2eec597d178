#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "base/error.h"
#include "base/text/text.h"
#include "baton/buffer.h"
#include "driver/capture_mode.h"
#include "driver/simulator.h"
#include "runtime/beside_captures.h"
#include "runtime/context.h"
#include "runtime/crossing.h"
#include "runtime/release.h"

namespace baton {

std::size_t detail::array_bytes(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    throw error(ErrorCode::kOutOfMemory, "{} elements of {} bytes exceed every memory", count,
                size);
  }
  return bytes;
}

namespace {

// As a pointer of cuMemAlloc is aligned, which kernels rely on.
constexpr DeviceAddress kAlignment = 256;

void check_allocated(const Device& device, CUresult result, std::size_t bytes, const char* call) {
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    throw error(ErrorCode::kOutOfMemory,
                "{} of device memory were asked for, {} of {} are free on {}", format_bytes(bytes),
                format_bytes(device.free_memory()), format_bytes(device.total_memory()),
                device.spec());
  }
  driver::check(device.driver(), result, call);
}

void require_host_memory(const char* what, const void* memory) {
  if (memory != nullptr) return;
  throw error(ErrorCode::kInvalidInput, "the host memory of the {} is a null pointer", what);
}

bool is_captured(const Device& device, CUstream stream) noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  const CUresult result = device.driver().cuStreamIsCapturing(stream, &status);
  return result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Addresses that captures allocated: their graphs have the memory. Thread-safe.
class CapturedMemory {
 public:
  void add(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    addresses_.insert(address);
  }
  bool take(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    return addresses_.erase(address) != 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<CUdeviceptr> addresses_;
};

// Never destroyed: memory may be given back while the process ends.
CapturedMemory& captured_memory() {
  static auto& captured = *new CapturedMemory;
  return captured;
}

// Whether a stream that allocated memory is captured now, and was not then. A capture frees only
// what it allocates.
bool is_captured_without(const Device& device, CUdeviceptr address, CUstream stream) noexcept {
  if (captured_memory().take(address)) return false;
  try {
    const ContextGuard guard(device);
    return is_captured(device, stream);
  } catch (const std::exception&) {
    return false;  // the context is gone
  }
}

}  // namespace

Allocator::~Allocator() = default;

Memory::Memory(const Device& device, std::size_t bytes) : device_(device), bytes_(bytes) {
  if (bytes == 0) return;
  ContextGuard guard(device_);
  const driver::RelaxedCapture relaxed(device_.driver());
  check_allocated(device_, device_.driver().cuMemAlloc(&address_, bytes), bytes, "cuMemAlloc");
}

Memory::Memory(const Device& device, std::size_t bytes, std::shared_ptr<Allocator> allocator)
    : Memory(device, 0, bytes, allocator == nullptr ? End::kFree : End::kAllocator) {
  if (allocator == nullptr) {
    *this = Memory(device, bytes);
    return;
  }
  allocator_ = std::move(allocator);
  if (bytes == 0) return;
  ContextGuard guard(device_);
  const DeviceAddress address = allocator_->allocate(device_, bytes);
  if (address == 0) {
    throw error(ErrorCode::kOutOfMemory,
                "{} of device memory were asked for, and the allocator has none left for {}",
                format_bytes(bytes), device_.spec());
  }
  if (address % kAlignment != 0) {
    allocator_->free(device_, address, bytes);
    throw error(ErrorCode::kInvalidInput,
                "the allocator gave the address {:#x} for {}; it must be a multiple of {}", address,
                format_bytes(bytes), kAlignment);
  }
  address_ = address;
}

Memory Memory::in_order(const Stream& stream, std::size_t bytes) {
  Memory memory(stream.device(), 0, bytes, End::kStream);
  memory.stream_ = stream.native();
  if (bytes == 0) return memory;
  ContextGuard guard(memory.device_);
  const driver::RelaxedCapture relaxed(memory.device_.driver());
  check_allocated(memory.device_,
                  memory.device_.driver().cuMemAllocAsync(&memory.address_, bytes, memory.stream_),
                  bytes, "cuMemAllocAsync");
  if (is_captured(memory.device_, memory.stream_)) captured_memory().add(memory.address_);
  return memory;
}

Memory Memory::adopt(const Device& device, DeviceAddress address, std::size_t bytes,
                     std::shared_ptr<const void> owner) {
  Memory memory(device, address, bytes, End::kOwner);
  memory.owner_ = std::move(owner);
  return memory;
}

Memory::Memory(Memory&& other) noexcept
    : device_(other.device_),
      address_(std::exchange(other.address_, 0)),
      bytes_(std::exchange(other.bytes_, 0)),
      end_(other.end_),
      stream_(other.stream_),
      owner_(std::move(other.owner_)),
      allocator_(std::move(other.allocator_)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  if (this == &other) return *this;
  release();
  device_ = other.device_;
  address_ = std::exchange(other.address_, 0);
  bytes_ = std::exchange(other.bytes_, 0);
  end_ = other.end_;
  stream_ = other.stream_;
  owner_ = std::move(other.owner_);
  allocator_ = std::move(other.allocator_);
  return *this;
}

Memory::~Memory() {
  release();
}

void Memory::free_in_order(const Stream& stream) {
  if (end_ != End::kStream) {
    throw error(ErrorCode::kInvalidInput,
                "memory that was not allocated in the order of a stream is not freed in it");
  }
  require_one_device("memory", device_, "stream", stream.device());
  stream_ = stream.native();
}

void Memory::release() noexcept {
  if (address_ == 0) return;
  switch (end_) {
    case End::kOwner:
      return;
    case End::kFree:
      return release_after_work(device_, [this](const driver::Driver& driver) {
        const driver::RelaxedCapture relaxed(driver);
        BATON_RELEASE(driver, cuMemFree, address_);
      });
    case End::kStream:
      if (is_captured_without(device_, address_, stream_)) {
        return release_after_work(device_, [this](const driver::Driver& driver) {
          released(driver, synchronize_beside_captures(driver), "cuMemFree");
          const driver::RelaxedCapture relaxed(driver);
          BATON_RELEASE(driver, cuMemFree, address_);
        });
      }
      return release_in_context(device_, [this](const driver::Driver& driver) {
        const driver::RelaxedCapture relaxed(driver);
        BATON_RELEASE(driver, cuMemFreeAsync, address_, stream_);
      });
    case End::kAllocator:
      return release_after_work(device_, [this](const driver::Driver& driver) {
        // cuMemFree waits by itself; the allocator may give the memory to work of any stream.
        released(driver, synchronize_beside_captures(driver), "cuMemFree");
        allocator_->free(device_, address_, bytes_);
      });
  }
}

void Memory::set_name(std::string_view name) const {
  driver::Simulator* simulator = device_.driver().simulator;
  if (simulator != nullptr && address_ != 0) simulator->name_allocation(address_, name);
}

void Memory::check_range(const char* what, std::size_t bytes, std::size_t offset) const {
  if (offset <= bytes_ && bytes <= bytes_ - offset) return;
  throw error(ErrorCode::kInvalidInput, "{} of {} bytes at offset {} leaves the memory of {} bytes",
              what, bytes, offset, bytes_);
}

void Memory::upload(const void* source, std::size_t bytes, std::size_t offset,
                    const Stream& stream) const {
  check_range("upload", bytes, offset);
  require_one_device("memory", device_, "stream", stream.device());
  if (bytes == 0) return;
  require_host_memory("upload", source);
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuMemcpyHtoDAsync, address_ + offset, source, bytes,
                    stream.native());
}

void Memory::download(void* target, std::size_t bytes, std::size_t offset,
                      const Stream& stream) const {
  check_range("download", bytes, offset);
  require_one_device("memory", device_, "stream", stream.device());
  if (bytes == 0) return;
  require_host_memory("download", target);
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuMemcpyDtoHAsync, target, address_ + offset, bytes,
                    stream.native());
}

void Memory::copy_from(const Memory& source, std::size_t bytes, std::size_t source_offset,
                       std::size_t offset, const Stream& stream) const {
  source.check_range("copy", bytes, source_offset);
  check_range("copy", bytes, offset);
  require_one_driver("copy's source", source.device(), "target", device_);
  if (stream.device() != source.device()) {
    require_one_device("memory", device_, "stream", stream.device());
  }
  if (bytes == 0) return;
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuMemcpyDtoDAsync, address_ + offset,
                    source.address() + source_offset, bytes, stream.native());
}

void Memory::fill(std::uint64_t value, unsigned width, std::size_t count, std::size_t offset,
                  const Stream& stream) const {
  if (width != 1 && width != 2 && width != 4 && width != 8) {
    throw error(ErrorCode::kInvalidInput, "a fill repeats 1, 2, 4 or 8 bytes, not {}", width);
  }
  const std::size_t bytes = detail::array_bytes(count, width);
  check_range("fill", bytes, offset);
  require_one_device("memory", device_, "stream", stream.device());
  if (offset % width != 0) {
    throw error(ErrorCode::kInvalidInput,
                "a fill by {} bytes starts at offset {}, which is not a multiple of {}", width,
                offset, width);
  }
  if (bytes == 0) return;
  ContextGuard guard(device_);
  const driver::Driver& driver = device_.driver();
  const DeviceAddress start = address_ + offset;
  const auto low = static_cast<std::uint32_t>(value);
  const auto high = static_cast<std::uint32_t>(value >> 32);
  if (width == 1) {
    BATON_DRIVER_CALL(driver, cuMemsetD8Async, start, static_cast<unsigned char>(value), count,
                      stream.native());
  } else if (width == 2) {
    BATON_DRIVER_CALL(driver, cuMemsetD16Async, start, static_cast<unsigned short>(value), count,
                      stream.native());
  } else if (width == 4 || low == high) {
    BATON_DRIVER_CALL(driver, cuMemsetD32Async, start, low, bytes / 4, stream.native());
  } else {
    // The driver sets no 8-byte pattern: write one element, then double what is written.
    BATON_DRIVER_CALL(driver, cuMemsetD32Async, start, low, 1, stream.native());
    BATON_DRIVER_CALL(driver, cuMemsetD32Async, start + 4, high, 1, stream.native());
    for (std::size_t written = 8; written < bytes; written *= 2) {
      BATON_DRIVER_CALL(driver, cuMemcpyDtoDAsync, start + written, start,
                        std::min(written, bytes - written), stream.native());
    }
  }
}

PinnedMemory::PinnedMemory(const Device& device, std::size_t bytes)
    : device_(device), bytes_(bytes) {
  if (bytes == 0) return;
  ContextGuard guard(device_);
  const driver::RelaxedCapture relaxed(device_.driver());
  const CUresult result = device_.driver().cuMemHostAlloc(&data_, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    throw error(ErrorCode::kOutOfMemory, "{} of page-locked host memory are not to be had",
                format_bytes(bytes));
  }
  driver::check(device_.driver(), result, "cuMemHostAlloc");
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : device_(other.device_),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  device_ = other.device_;
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  release();
}

void PinnedMemory::release() noexcept {
  if (data_ == nullptr) return;
  release_after_work(device_, [this](const driver::Driver& driver) {
    const driver::RelaxedCapture relaxed(driver);
    BATON_RELEASE(driver, cuMemFreeHost, data_);
  });
}

}  // namespace baton
