// A library in place of libcuda.so.1 whose launches do nothing: BATON_CUDA_DRIVER=libnull_driver.so
// makes it "cuda:0". All other calls go to the simulated GPU. It leaves a caller's own share of a
// launch's time, for benchmarks on machines without a GPU.

#include <cuda.h>

#include <string_view>

#include "driver/driver.h"
#include "runtime/provider.h"

namespace baton::bench {
namespace {

using Watch = void (*)(CUstream stream, void** arguments);
Watch watch = nullptr;

CUresult launch_nothing(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream stream, void** arguments, void**) {
  if (watch != nullptr) watch(stream, arguments);
  return CUDA_SUCCESS;
}
CUresult launch_nothing_ex(const CUlaunchConfig* config, CUfunction, void** arguments, void**) {
  if (watch != nullptr) watch(config->hStream, arguments);
  return CUDA_SUCCESS;
}
CUresult launch_no_graph(CUgraphExec, CUstream) {
  return CUDA_SUCCESS;
}
// A GPU has no interface of the simulator.
CUresult no_export_table(const void**, const CUuuid*) {
  return CUDA_ERROR_NOT_FOUND;
}
CUresult one_device(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}

struct Replaced {
  std::string_view name;
  void* function;
};

void* find(std::string_view symbol) {
  static const Replaced kReplaced[] = {
      {"cuLaunchKernel", reinterpret_cast<void*>(launch_nothing)},
      {"cuLaunchKernelEx", reinterpret_cast<void*>(launch_nothing_ex)},
      {"cuGraphLaunch", reinterpret_cast<void*>(launch_no_graph)},
      {"cuGetExportTable", reinterpret_cast<void*>(no_export_table)},
      {"cuDeviceGetCount", reinterpret_cast<void*>(one_device)},
  };
  for (const Replaced& replaced : kReplaced) {
    if (replaced.name == symbol) return replaced.function;
  }
  static const driver::Driver* const table = driver_providers().back().driver(nullptr);
#define BATON_DRIVER_ENTRY(entry, version, need) \
  if (symbol == "cu" #entry) return reinterpret_cast<void*>(table->cu##entry);
#include "driver/entries.inc"
  return nullptr;
}

}  // namespace
}  // namespace baton::bench

// For tests: called in place of each later launch.
extern "C" __attribute__((visibility("default"))) void baton_watch_launches(
    baton::bench::Watch called) {
  baton::bench::watch = called;
}

extern "C" __attribute__((visibility("default"))) CUresult cuGetProcAddress_v2(
    const char* symbol, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult* found) {
  *function = baton::bench::find(symbol);
  const bool is_there = *function != nullptr;
  if (found != nullptr) {
    *found = is_there ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return is_there ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
