#include "driver/cuda.h"

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/system/dynamic_library.h"
#include "driver/simulator.h"

namespace baton::driver {
namespace {

struct Loaded {
  Driver driver;
  bool present = false;
  std::string why;
};

enum class Need { required, optional };

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
  throw error(
      ErrorCode::kNoDevice,
      "the CUDA driver {} does not start: {}; mend the driver, or choose the simulated GPU, "
      "which is the device \"sim\"",
      path, reason);
}

void fill(Driver& driver, const DynamicLibrary& library) {
  auto get_proc =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(library.symbol("cuGetProcAddress_v2"));
  if (get_proc == nullptr) {
    refuse(driver.path,
           "it has no cuGetProcAddress_v2, so it is older than CUDA 12.0; CUDA 12.4 is needed");
  }
  auto resolve = [&](const char* symbol, int version, Need need) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult found{};
    const CUresult result =
        get_proc(symbol, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    if ((result != CUDA_SUCCESS || function == nullptr) && need == Need::required) {
      refuse(driver.path,
             fmt::format("it lacks {} of CUDA {}.{}; CUDA {}.{} is needed", symbol, version / 1000,
                         version % 1000 / 10, kDriverFloor / 1000, kDriverFloor % 1000 / 10));
    }
    return result == CUDA_SUCCESS ? function : nullptr;
  };
#define BATON_DRIVER_ENTRY(name, version, need) \
  driver.cu##name =                             \
      reinterpret_cast<decltype(driver.cu##name)>(resolve("cu" #name, version, Need::need));
#include "driver/entries.inc"
}

// Whether the loader found no file for the name. It begins with the name then, and otherwise with
// the path of what it found, or the name of a library that a driver needs. An empty file counts as
// none: containers have one where the host's driver would be mounted.
bool is_absent(const std::string& name, const std::string& reason) {
  const std::filesystem::path found = reason.substr(0, reason.find(": "));
  std::error_code failure;
  if (found == name && (!found.has_parent_path() || !std::filesystem::exists(found, failure))) {
    return true;
  }
  return std::filesystem::file_size(found, failure) == 0;
}

std::optional<DynamicLibrary> open_library(const std::vector<std::string>& names,
                                           std::string& why) {
  why = "no CUDA driver is installed: ";
  for (const std::string& name : names) {
    std::string reason;
    if (auto library = DynamicLibrary::open({&name, 1}, &reason)) return library;
    if (!is_absent(name, reason)) refuse(name, reason);
    why += &name == &names.front() ? reason : "; " + reason;
  }
  return std::nullopt;
}

Loaded load() {
  Loaded loaded;
  Driver& driver = loaded.driver;
  driver.name = "CUDA driver";
  const char* chosen = std::getenv("BATON_CUDA_DRIVER");
  const std::vector<std::string> names =
      chosen != nullptr && *chosen != '\0' ? std::vector<std::string>{chosen}
                                           : std::vector<std::string>{"libcuda.so.1", "libcuda.so"};
  std::optional<DynamicLibrary> library = open_library(names, loaded.why);
  if (!library) return loaded;
  loaded.why.clear();
  driver.path = library->path();
  fill(driver, *library);
  // Unloading a driver while its threads run is not supported by anyone.
  library->leak();

  const CUresult result = driver.cuInit(0);
  if (result == CUDA_ERROR_NO_DEVICE) {
    loaded.why = "the CUDA driver " + driver.path + " finds no GPU";
    return loaded;
  }
  if (result != CUDA_SUCCESS) refuse(driver.path, "cuInit gives " + describe(driver, result));
  check(driver, driver.cuDriverGetVersion(&driver.version), "cuDriverGetVersion");
  if (driver.version < kDriverFloor) {
    refuse(driver.path,
           fmt::format("it is of CUDA {}.{}; CUDA {}.{} is needed", driver.version / 1000,
                       driver.version % 1000 / 10, kDriverFloor / 1000, kDriverFloor % 1000 / 10));
  }
  const void* table = nullptr;
  if (driver.cuGetExportTable(&table, &kSimulatorUuid) == CUDA_SUCCESS && table != nullptr) {
    driver.simulator = static_cast<Simulator*>(const_cast<void*>(table));
  }
  int count = 0;
  check(driver, driver.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (count == 0) {
    loaded.why = "the CUDA driver " + driver.path + " finds no GPU";
    return loaded;
  }
  loaded.present = true;
  return loaded;
}

}  // namespace

const Driver* load_cuda(std::string* why) {
  static std::mutex mutex;
  static Loaded* loaded = nullptr;  // never destroyed: destructors of users may run after ours
  std::lock_guard lock(mutex);
  if (loaded == nullptr) loaded = new Loaded(load());
  if (why != nullptr) *why = loaded->why;
  return loaded->present ? &loaded->driver : nullptr;
}

}  // namespace baton::driver
