#pragma once

#include <set>
#include <string>

#include "baton/device.h"
#include "baton/executable.h"
#include "baton/image.h"
#include "baton/module.h"

namespace baton::tools {

// Whether the device is the simulated GPU, whose times say nothing of a GPU.
bool is_simulated(const Device& device);

// Throws kInvalidInput unless it is the name of a simulated GPU.
void require_simulated(const std::string& name);

// Whether the device runs an image. The simulated GPU executes PTX: of a fatbin it takes that,
// whatever machine code the fatbin has too.
Compatibility runs_on_device(ImageFacts facts, const Device& device);

// Loads an image, to ask the device about its kernels. The simulated GPU does not assemble PTX: the
// registers come from nvJitLink where it is installed.
Module load_to_ask(const Device& device, const Image& image);

// Whether the kernel's registers are the simulated GPU's own estimate, for want of an assembler.
bool has_estimated_registers(const Kernel& kernel);
// Those of a program, by their names in it.
std::set<std::string> kernels_with_estimated_registers(const Executable& executable);

}  // namespace baton::tools
