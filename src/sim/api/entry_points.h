#pragma once

#include <span>
#include <string_view>

namespace baton::sim {

// A function of the simulated driver as a library exports it.
struct EntryPoint {
  std::string_view name;  // "cuMemAlloc", as cuGetProcAddress is asked for it
  int version = 0;        // 3020: that of the typedef PFN_cuMemAlloc_v3020, whose type it has
  void* call = nullptr;
  void* thread_call = nullptr;  // the same, whose default stream is the calling thread's
};

// Those of driver/entries.inc and sim/api/foreign_entries.inc. Never destroyed.
std::span<const EntryPoint> entry_points();

}  // namespace baton::sim
