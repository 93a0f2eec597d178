#pragma once

#include <filesystem>
#include <optional>

#include "sim/device/settings.h"

namespace baton::shim {

// What the environment of a process asks of the library. `baton exec` sets it; users may too.
struct Options {
  sim::Settings settings;
  bool finds_leaks = false;
  std::optional<std::filesystem::path> report;  // BATON_EXEC_REPORT: the folder
};

// Reads BATON_DEVICE and BATON_EXEC_*. Throws kInvalidInput with the variable, its value and what
// it takes.
Options read_options();

}  // namespace baton::shim
