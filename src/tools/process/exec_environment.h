#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "baton/races.h"
#include "baton/schedule.h"
#include "tools/process/child_process.h"

namespace baton::tools {

// How `baton exec` simulates: what its options say of it.
struct ExecSettings {
  std::string device = "sim";
  std::optional<Schedule> schedule;
  std::optional<std::uint64_t> memory;  // bytes that the device reports
  Races races = Races::kUsual;
  bool keep_going = false;
  bool finds_leaks = false;
  std::string api_errors = "no";  // calls whose errors are told: no, explicit or all
  // The launches whose findings count: so many, 0 for all, after so many, among those of the
  // kernels that the patterns choose.
  std::uint64_t launch_skip = 0;
  std::uint64_t launch_count = 0;
  std::optional<std::string> kernels;
  std::optional<std::string> excluded_kernels;
  int gdb_port = 0;  // where GDB connects; 0: nowhere
};

// The folder that holds libcuda.so.1, beside this program. Throws kNotFound with the places.
std::filesystem::path driver_folder();

// What a program needs in its environment to find the simulated GPU and to tell what was found into
// the folder `report`. Children of the program inherit it.
Environment exec_environment(const ExecSettings& settings, const std::filesystem::path& libraries,
                             const std::filesystem::path& report);

}  // namespace baton::tools
