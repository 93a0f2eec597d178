#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "sim/engine/memory/memory.h"

namespace baton::sim {

class DeviceHeap;

// Memory of a device that has no address of its own. It stays as long as a caller holds it or it is
// mapped.
class PhysicalMemory {
 public:
  // Throws Refusal(CUDA_ERROR_OUT_OF_MEMORY).
  PhysicalMemory(const std::shared_ptr<DeviceHeap>& heap, std::uint64_t bytes,
                 const CUmemAllocationProp& properties);
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  const SharedBytes& bytes() const { return bytes_; }
  const CUmemAllocationProp& properties() const { return properties_; }
  // Whether it is the device's memory that has the addresses.
  bool is_of(const DeviceMemory& memory) const;

  std::atomic<unsigned> holders = 1;  // how often its handle must be released
  bool was_mapped = false;            // something may have been written

 private:
  const std::weak_ptr<DeviceHeap> heap_;
  const CUmemAllocationProp properties_;
  SharedBytes bytes_;
};

// The addresses of a device that callers reserved, and what they mapped there. Each function that
// gives a result gives CUDA_ERROR_INVALID_VALUE for a range that is not as cuda.h wants it.
// Thread-safe.
class VirtualRanges {
 public:
  explicit VirtualRanges(DeviceMemory& memory) : memory_(memory) {}

  // Sizes and addresses are multiples of it: 2 MiB, as on a GPU.
  static constexpr std::uint64_t kGranularity = std::uint64_t{1} << 21;

  // 0 where there are no addresses.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
  CUresult end_reserve(std::uint64_t address, std::uint64_t bytes);
  CUresult map(std::uint64_t address, std::uint64_t bytes, std::shared_ptr<PhysicalMemory> memory);
  // Of whole mappings, without a gap between them.
  CUresult unmap(std::uint64_t address, std::uint64_t bytes);
  CUresult set_access(std::uint64_t address, std::uint64_t bytes, bool on);

  // Whether the address is reserved.
  bool has(std::uint64_t address) const;
  // What is mapped at the address, and whether it may be accessed.
  struct Mapped {
    std::shared_ptr<PhysicalMemory> memory;
    bool is_open = false;
  };
  std::optional<Mapped> find(std::uint64_t address) const;

 private:
  struct Mapping {
    std::uint64_t bytes = 0;
    std::shared_ptr<PhysicalMemory> memory;
    bool is_open = false;
  };
  using Mappings = std::map<std::uint64_t, Mapping>;
  using Reservations = std::map<std::uint64_t, std::uint64_t>;

  Reservations::const_iterator around(std::uint64_t address) const;
  // The mappings that the range consists of; empty where it does not.
  std::pair<Mappings::iterator, Mappings::iterator> whole(std::uint64_t address,
                                                          std::uint64_t bytes);

  DeviceMemory& memory_;
  mutable std::mutex mutex_;
  Reservations reservations_;  // bytes by address
  Mappings mappings_;          // by address
};

}  // namespace baton::sim
