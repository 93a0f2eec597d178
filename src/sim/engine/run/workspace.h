#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "sim/engine/memory/memory.h"

namespace baton::sim {

// Memory for the grids' own use on a device: what a cooperative launch finds by %envreg1 and 2 and
// keeps its barrier in. Handed out again once a grid has ended. Must not outlive the memory.
// Thread-safe.
class Workspaces {
 public:
  // A hold on one workspace, cleared; `address` is 0 where the device has no room.
  class Hold {
   public:
    Hold() = default;
    Hold(Workspaces* owner, std::uint64_t address) : owner_(owner), address_(address) {}
    Hold(Hold&& other) noexcept;
    Hold& operator=(Hold&& other) noexcept;
    ~Hold();
    std::uint64_t address() const { return address_; }

   private:
    Workspaces* owner_ = nullptr;
    std::uint64_t address_ = 0;
  };

  explicit Workspaces(DeviceMemory& memory) : memory_(memory) {}
  Hold take();

 private:
  DeviceMemory& memory_;
  std::mutex mutex_;
  std::vector<std::uint64_t> free_;
};

}  // namespace baton::sim
