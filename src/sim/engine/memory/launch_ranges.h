#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "driver/simulator.h"
#include "sim/engine/memory/memory_impl.h"

namespace baton::sim {

// Global memory as a launch with ranges (driver::LaunchNote) may access it: of an allocation in
// which some of the ranges lie, there is nothing else. Each look-up costs what it costs without
// ranges.
std::shared_ptr<const DeviceMemory::Impl::Snapshot> restrict_to(
    const DeviceMemory::Impl::Snapshot& all, std::span<const driver::LaunchNote::Range> ranges);

// DeviceMemory::describe for a finding about a launch, which may have no note: the launch's ranges
// name the parts of an allocation.
std::string describe(const DeviceMemory& memory, const driver::LaunchNote* note,
                     std::uint64_t address);

}  // namespace baton::sim
