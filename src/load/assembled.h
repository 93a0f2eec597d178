#pragma once

#include <set>
#include <string>

#include "baton/compile.h"
#include "baton/device.h"
#include "baton/image.h"
#include "baton/module.h"
#include "baton/program.h"

namespace baton::load {

// The simulated GPU does not assemble PTX, so it knows no registers of a kernel that comes as PTX
// alone. These functions ask nvJitLink, where it is installed.

// Whether a launch of the program says placement = "even", which is computed from registers.
bool needs_registers(const Program& program);

// Kernels by their symbols. Libraries' modules have many, and to assemble a large one takes
// seconds.
using WantedKernels = std::set<std::string, std::less<>>;

// Loads the PTX (of a compile: in place of its machine code), on the simulated GPU with the machine
// code that nvJitLink makes of it, for the registers: of the kernels that are wanted, or of all
// without any. Without that if there is none, or it does not load.
Module load_assembled(const Device& device, const Image& ptx, const WantedKernels& wanted = {});
Module load_assembled(const Device& device, Compiled compiled, const WantedKernels& wanted = {});

}  // namespace baton::load
