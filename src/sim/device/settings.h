#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "driver/simulator.h"
#include "sim/engine/debug/debugger.h"

namespace baton::sim {

class LaunchWindow;

// What a process asks of the simulated GPU as a whole. The defaults are what Baton itself uses; a
// driver library for other programs asks for more.
struct Settings {
  std::string only;                // the profile of the one device that is visible; empty: all are
  std::uint64_t memory_bytes = 0;  // the most memory that a device has; 0: what its profile says
  driver::Simulator::Options common;  // for work in no session
  // The launches in no session whose findings count; null: all.
  std::shared_ptr<LaunchWindow> launches;
  // A kernel that faults ends alone: its context goes on without an error.
  bool keep_going = false;
  // Stops kernels for a debugger; null: there is none.
  std::shared_ptr<Debugger> debugger;
  // Takes each finding of work in no session when it is first seen, in the device's thread; null:
  // none. It must not call the driver.
  void (*first_seen)(const driver::Finding& finding) = nullptr;
  // Takes the findings of such work, with their counts, that are left when a context ends.
  // Null: errors are logged.
  void (*left)(std::span<const driver::Finding> findings) = nullptr;
  // Told, when a context ends, of the allocations that the program did not free: how many, and in
  // words. Null: they are not looked for.
  void (*leaked)(std::uint64_t count, std::string_view what) = nullptr;
  // Told of each call of an exported function (sim/api/entry_points.h) that returned an error, by
  // the function's address, in the caller's thread; null: it is not told.
  void (*call_failed)(const void* function, CUresult result) noexcept = nullptr;
  // Told of each image that does not run here, and why; null: it is not told.
  void (*image_refused)(std::string_view why) = nullptr;
};

// Before the first use of the simulated GPU, and once. Throws kInvalidInput for a profile that is
// none, with the known ones.
void configure(Settings settings);

// Constant from the first use of the simulated GPU on.
const Settings& settings();

}  // namespace baton::sim
