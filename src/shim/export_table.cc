#include "shim/export_table.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstring>
#include <string>

#include "base/log.h"
#include "shim/process_report.h"
#include "sim/api/driver.h"

namespace baton::shim {
namespace {

// The table without which NVIDIA's runtime does not start: 6bd5fb6c-5bf4-e74a-8987-d93912fd9df9.
constexpr CUuuid kRuntimeTable = {{'\x6b', '\xd5', '\xfb', '\x6c', '\x5b', '\xf4', '\xe7', '\x4a',
                                   '\x89', '\x87', '\xd9', '\x39', '\x12', '\xfd', '\x9d', '\xf9'}};

void tell_runtime(const void* caller) {
  Dl_info facts = {};
  const bool is_known = dladdr(caller, &facts) != 0 && facts.dli_fname != nullptr;
  const std::string what = fmt::format(
      "{} holds NVIDIA's CUDA runtime without its symbols, which starts with no other driver than "
      "NVIDIA's; link the runtime as a library: nvcc -cudart shared (in the environment of a "
      "build, "
      "NVCC_APPEND_FLAGS=\"-cudart shared\"; with CMake, CMAKE_CUDA_RUNTIME_LIBRARY=Shared)",
      is_known ? facts.dli_fname : "a library");
  ProcessReport::image(what);
  if (!ProcessReport::is_open()) log(LogLevel::kWarning, "{}", what);
}

}  // namespace

CUresult get_export_table(const void** table, const CUuuid* id) {
  if (id != nullptr && std::memcmp(id, &kRuntimeTable, sizeof *id) == 0) {
    tell_runtime(__builtin_return_address(0));
  }
  return sim::simulated_driver().cuGetExportTable(table, id);
}

}  // namespace baton::shim
