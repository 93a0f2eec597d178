#include "tools/process/record_run.h"

#include <cuda.h>

#include "base/error.h"
#include "base/system/dynamic_library.h"
#include "base/system/environment.h"
#include "tools/device_facts.h"
#include "tools/process/exec_environment.h"

namespace baton::tools {
namespace {

constexpr const char* kSimulated = "sim";

// The system's driver, where it finds a GPU; else empty.
std::filesystem::path system_driver(std::string* why) {
  const std::string names[] = {"libcuda.so.1"};
  const std::optional<DynamicLibrary> library = DynamicLibrary::open(names, why);
  if (!library) return {};
  const auto start = reinterpret_cast<CUresult (*)(unsigned)>(library->symbol("cuInit"));
  const auto count = reinterpret_cast<CUresult (*)(int*)>(library->symbol("cuDeviceGetCount"));
  int devices = 0;
  if (start == nullptr || count == nullptr || start(0) != CUDA_SUCCESS ||
      count(&devices) != CUDA_SUCCESS || devices == 0) {
    *why = library->path() + " finds no GPU";
    return {};
  }
  return library->path();
}

// A folder or a library in front of what is in `value`.
std::string in_front_of(const std::filesystem::path& first, const std::string& value) {
  return value.empty() ? first.string() : first.string() + ":" + value;
}

}  // namespace

RecordedDriver find_driver(const std::string& asked) {
  std::string device = asked;
  if (device.empty()) device = read_environment("BATON_DEVICE").value_or("");
  std::string why;
  if (device.empty() || device == kGpuDevice) {
    const std::filesystem::path library = system_driver(&why);
    if (!library.empty()) return {kGpuDevice, library};
    if (device == kGpuDevice) {
      throw error(ErrorCode::kNoDevice, "there is no GPU: {}; use --device sim", why);
    }
    device = kSimulated;
  }
  if (device != kSimulated && !device.starts_with("sim:")) {
    throw error(ErrorCode::kInvalidInput,
                "baton record takes --device cuda, sim or sim:NAME, {} was given; "
                "CUDA_VISIBLE_DEVICES chooses among several GPUs",
                device);
  }
  require_simulated(device);
  return {device, driver_folder() / "libcuda.so.1"};
}

Environment record_environment(const RecordedDriver& driver, const std::filesystem::path& record) {
  const std::filesystem::path folder = driver_folder() / "record";
  const std::filesystem::path recorder = folder / "libcuda.so.1";
  if (!std::filesystem::exists(recorder)) {
    throw error(ErrorCode::kNotFound, "the recorder is not installed: {} is missing",
                recorder.string());
  }
  Environment added;
  if (driver.device != kGpuDevice) {
    // The program needs what `baton exec` gives it, and a recorder where that has the driver.
    ExecSettings settings;
    settings.device = driver.device;
    added = exec_environment(settings, driver_folder(), "");
    added.erase("BATON_EXEC_REPORT");
    added["BATON_EXEC_DRIVER"] = recorder.string();
    // After the preload, whose dlopen has to be found first.
    added["LD_PRELOAD"] += ":" + recorder.string();
  } else {
    added["LD_PRELOAD"] = in_front_of(recorder, read_environment("LD_PRELOAD").value_or(""));
    added["LD_LIBRARY_PATH"] = read_environment("LD_LIBRARY_PATH").value_or("");
  }
  added["LD_LIBRARY_PATH"] = in_front_of(folder, added["LD_LIBRARY_PATH"]);
  if (!record.empty()) added["BATON_RECORD"] = std::filesystem::absolute(record).string();
  added["BATON_RECORD_DRIVER"] = driver.library.string();
  return added;
}

ProcessEnd record_program(const RecordedDriver& driver, const std::filesystem::path& record,
                          const std::vector<std::string>& program, bool contents,
                          std::optional<std::chrono::duration<double>> limit,
                          const std::atomic<bool>& stop) {
  Environment environment = current_environment();
  for (auto& [name, value] : record_environment(driver, record)) environment[name] = value;
  environment.erase("BATON_EXEC_REPORT");
  environment["BATON_RECORD_CONTENTS"] = contents ? "1" : "";
  return run_process(program, environment, limit, stop);
}

}  // namespace baton::tools
