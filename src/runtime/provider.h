#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/driver.h"

namespace baton {

// One filler of the driver table and the names of its devices. The list of them is the only place
// that knows which fillers there are; everything else asks the table.
struct DriverProvider {
  std::string_view kind;  // "cuda": what a spec starts with

  // The table, filled and started, or null with the reason where there is nothing to start. Throws
  // Error(kNoDevice) where it is there but does not start.
  const driver::Driver* (*driver)(std::string* why);
  // The device that the part of a spec after the colon names ("1", "h200"; empty: the default
  // device); nothing where it is not such a name. The device need not exist.
  std::optional<int> (*ordinal)(std::string_view name);
  // The reverse: the full spec of a device, "cuda:1".
  std::string (*spec)(int ordinal);
  // Every spec that could be meant, for messages.
  std::vector<std::string> (*specs)();
};

// All providers, in the order in which `Device::open()` prefers them. Defined by the library's
// composition file.
std::span<const DriverProvider> driver_providers();

}  // namespace baton
