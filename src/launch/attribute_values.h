#pragma once

#include <optional>

#include "baton/error.h"
#include "baton/launch.h"
#include "launch/attribute_table.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// An attribute whose value no device takes, or this one does not, with both numbers; nothing where
// each is in range. Values are the driver's to judge: this says what it did not like. Attributes
// without a row in the table pass. Asks the driver.
std::optional<Error> broken_value(const KernelState& kernel, const ResolvedKernel& resolved,
                                  const LaunchConfig& config);

// A value that needs a newer driver than the device's, or nothing.
std::optional<Error> choice_without_driver(const KernelState& kernel, const Device& device,
                                           const AttributeRow& row,
                                           const LaunchAttribute& attribute);

// `what` needs a driver of that version (13040: CUDA 13.4), and the device's is older.
Error driver_error(const KernelState& kernel, const Device& device, std::string_view what,
                   int driver);

}  // namespace baton::launch
