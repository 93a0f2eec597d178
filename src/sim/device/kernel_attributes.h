#pragma once

#include <cuda.h>

#include "sim/device/library.h"
#include "sim/device/profile.h"
#include "sim/engine/lower/module.h"

namespace baton::sim {

// A kernel on a device: what the image says of it, and what was set.
struct KernelView {
  const Profile& profile;
  const LoadedKernel& kernel;
  const ptx::ParsedModule& ptx;
  const KernelSettings& settings;
};

// Registers of a thread: of the machine code, where they were told, else an estimate from the PTX.
std::uint32_t registers(const KernelView& view);
// Threads that a block of the kernel may have on the device.
std::uint32_t max_threads(const KernelView& view);
// Dynamic shared memory in bytes that a launch of it may ask for.
int max_dynamic_shared(const KernelView& view);

// Each throws Refusal with the driver's code for an attribute or a value that does not exist.
int get_attribute(const KernelView& view, CUfunction_attribute attribute);
// The settings with the attribute changed.
KernelSettings set_attribute(const KernelView& view, CUfunction_attribute attribute, int value);

}  // namespace baton::sim
