#pragma once

#include <cuda.h>
#include <cudaTypedefs.h>

#include <string>

namespace baton::driver {

class Simulator;

// The CUDA driver as one table of functions. Two things fill it: the CUDA driver loaded at run time
// (cuda.h), and the simulated GPU. Nothing above this room knows which. Immutable once filled, so
// any thread may call through it; it lives as long as the process.
//
// cuda.h renames many functions by macro (cuMemAlloc is cuMemAlloc_v2); the members below are
// spelled through the same macros, so `driver.cuMemAlloc(…)` names the member wherever cuda.h is
// included, and its type is the versioned one of entries.inc, never whatever the header's newest
// is.
struct Driver {
#define BATON_DRIVER_ENTRY(name, version, need) PFN_cu##name##_v##version cu##name = nullptr;
#include "driver/entries.inc"

  std::string name;  // "CUDA driver", "simulated GPU": for messages
  std::string path;  // the file it was loaded from; empty where it was not
  int version = 0;   // cuDriverGetVersion: 13000 for 13.0

  // What only a simulator can tell, or null: fetched by cuGetExportTable under kSimulatorUuid when
  // the table is filled. Ask for this, never for the kind of device.
  Simulator* simulator = nullptr;
};

// Throws baton::Error where `result` is not CUDA_SUCCESS: the one place where a driver's error is
// converted. The message gives the call, the error's name, number and text; a simulator adds what
// it saw of a kernel's fault.
void check(const Driver& driver, CUresult result, const char* call);

// Logs instead of throwing: for destructors. A driver that is shutting down is not worth a word.
void check_quietly(const Driver& driver, CUresult result, const char* call) noexcept;

// "CUDA_ERROR_INVALID_VALUE (1): invalid argument".
std::string describe(const Driver& driver, CUresult result);

}  // namespace baton::driver

// BATON_DRIVER_CALL(driver, cuMemAlloc, &pointer, bytes): calls and throws on error. The name is
// stringised before cuda.h's macros rename it.
#define BATON_DRIVER_CALL(driver_, function, ...) \
  ::baton::driver::check((driver_), (driver_).function(__VA_ARGS__), #function)
#define BATON_DRIVER_CALL_QUIETLY(driver_, function, ...) \
  ::baton::driver::check_quietly((driver_), (driver_).function(__VA_ARGS__), #function)
