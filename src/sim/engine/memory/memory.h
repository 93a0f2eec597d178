#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace baton::sim {

// Bytes of the host that can be at several addresses. They stay while they are at one.
class SharedBytes {
 public:
  // Without data where the host has no room.
  explicit SharedBytes(std::uint64_t bytes);
  ~SharedBytes();
  SharedBytes(const SharedBytes&) = delete;
  SharedBytes& operator=(const SharedBytes&) = delete;

  void* data() const { return data_; }
  std::uint64_t size() const { return bytes_; }

 private:
  const std::uint64_t bytes_;
  void* data_ = nullptr;
};

// Global memory of one simulated device. Device addresses come from a window of their own, disjoint
// from any host pointer, and are never used twice: every allocation starts on its own 64 KiB page
// with unmapped space after it, so overruns, use after free and host pointers are distinguished
// exactly. Allocations are 256-byte aligned (in fact page aligned) and backed by host memory that
// the system commits when it is touched. For every byte it is known whether anything wrote it.
//
// Thread-safe: host-side calls may come from any thread while kernels run.
class DeviceMemory {
 public:
  // `ordinal` sets devices' windows apart; `capacity` in bytes is what cuMemGetInfo calls total.
  DeviceMemory(int ordinal, std::uint64_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  // Returns the address, or 0 where the device's capacity or the host's memory is exhausted.
  // Zero bytes are refused by returning 0, as the driver does.
  std::uint64_t allocate(std::uint64_t bytes);
  // False where `address` is not the start of a live allocation. The range is remembered as freed.
  bool free(std::uint64_t address);
  // Allocates at an address that allocate() gave and that was freed since. False where there is no
  // memory, and where another allocation has the addresses meanwhile.
  bool allocate_again(std::uint64_t address, std::uint64_t bytes);

  // Memory of the host that kernels may use at its own address from now on, as written in full. It
  // takes nothing of the capacity. `owner` keeps it as long as grids may use it; without one, the
  // caller keeps it until it is unmapped and nothing runs.
  void map_host(void* data, std::uint64_t bytes, std::string_view name,
                std::shared_ptr<void> owner = nullptr);
  void unmap_host(std::uint64_t address);

  // --- Reserved addresses (reserved.cc) ---
  // Addresses for memory that is mapped later; 0 where there are none. `alignment`: a power of two.
  // Sizes and addresses below are multiples of the host's page.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
  // Nothing is mapped there.
  void end_reserve(std::uint64_t address);
  // The memory is at the reserved addresses from now on, and may not be accessed until it is
  // opened. `is_written`: something may have written it. False where the host refuses.
  bool map(std::uint64_t address, const SharedBytes& bytes, bool is_written);
  bool unmap(std::uint64_t address, std::uint64_t bytes);
  void open(std::uint64_t address, std::uint64_t bytes, bool on);
  void mark_written(std::uint64_t address, std::uint64_t bytes);
  // Of the capacity, for memory that has no address yet. False where there is not as much.
  bool take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);

  // Kernels here may access the memory of that device too, at its own addresses, as long as that
  // device lives. False where they could before, and where they could not.
  bool add_peer(const std::shared_ptr<DeviceMemory>& peer);
  bool remove_peer(const DeviceMemory& peer);

  std::uint64_t capacity() const;
  std::uint64_t used() const;

  // Host-side access; false where the range does not lie inside one live allocation. Writes mark
  // bytes as initialised; copies carry the marks along; reads do not look at them.
  bool write(std::uint64_t address, const void* source, std::uint64_t bytes);
  bool read(std::uint64_t address, void* target, std::uint64_t bytes) const;
  bool copy(std::uint64_t target, std::uint64_t source, std::uint64_t bytes);
  // `count` elements of `width` bytes (1, 2 or 4).
  bool fill(std::uint64_t address, std::uint32_t value, unsigned width, std::uint64_t count);

  // The live allocation that holds `address`: its base and size; false where there is none.
  bool range(std::uint64_t address, std::uint64_t* base, std::uint64_t* size) const;

  // Whether nothing wrote any byte of the range, which lies inside one live allocation.
  bool untouched(std::uint64_t address, std::uint64_t bytes) const;

  void set_name(std::uint64_t address, std::string_view name);
  // "32 bytes past the end of buffer y (f32 [256], 1024 bytes at 0x…)", for findings.
  std::string describe(std::uint64_t address) const;

  // The engine's own view: allocations and their shadow, reached without a lock.
  struct Impl;
  Impl& impl() { return *impl_; }
  const Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace baton::sim
