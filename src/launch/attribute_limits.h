#pragma once

#include <array>
#include <optional>

#include "baton/error.h"
#include "baton/device.h"
#include "baton/launch.h"
#include "launch/attribute_table.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// Whether device and driver have the attribute.
bool is_available(const AttributeRow& row, const Device& device);

// Whether device and driver have every attribute of a config, and whether those go with each other,
// with the grid and with the kernel. Attributes without a row in the table pass: they are the
// driver's to judge.
bool attributes_fit(const ResolvedKernel& kernel, const LaunchConfig& config);

// Why they do not, or nothing: kUnsupported for what device or driver lack, kLimit for a cluster
// that does not fit, kInvalidInput for attributes that exclude each other.
std::optional<Error> broken_attribute(const KernelState& kernel, const ResolvedKernel& resolved,
                                      const LaunchConfig& config);

// Whether a grid consists of whole clusters.
bool divides(const std::array<std::uint32_t, 3>& cluster, const Dim3& grid);

}  // namespace baton::launch
