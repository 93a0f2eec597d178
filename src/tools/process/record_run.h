#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/process/child_process.h"

namespace baton::tools {

// The name of the device that is not simulated.
inline constexpr const char* kGpuDevice = "cuda";

// The driver whose calls are recorded: of a GPU ("cuda"), or of the simulated GPU.
struct RecordedDriver {
  std::string device;
  std::filesystem::path library;
};

// `device`: cuda, sim or sim:NAME; empty: a GPU where the system has one, else the simulated GPU.
// Throws kInvalidInput for another, kNoDevice where cuda finds no GPU, and kNotFound where the
// simulated driver is not installed.
RecordedDriver find_driver(const std::string& device);

// The environment that a program needs so that the recorder passes its calls to the driver, and
// writes into that folder. Throws kNotFound where the recorder is not installed.
Environment record_environment(const RecordedDriver& driver, const std::filesystem::path& record);

// Runs a program and its children with the recorder in front of the driver, and writes what they do
// into the folder of a record. `contents`: with the bytes that copies read from the host. Throws
// as run_process does.
ProcessEnd record_program(const RecordedDriver& driver, const std::filesystem::path& record,
                          const std::vector<std::string>& program, bool contents,
                          std::optional<std::chrono::duration<double>> limit,
                          const std::atomic<bool>& stop);

}  // namespace baton::tools
