#pragma once

#include <vector>

#include "baton/bundle.h"
#include "baton/device.h"
#include "load/kernel_definition.h"

namespace baton::bundle {

// What the kernels of the bundle's program are made from, with the build that suits the device
// best: machine code that runs on it, otherwise PTX. Reads no byte of an image. `program` is the
// bundle's. Throws kInvalidInput if no build suits, and if the index does not fit the program.
std::vector<load::KernelDefinition> read_definitions(const Bundle& bundle, const Program& program,
                                                     const Device& device);

// The same with the first build for an architecture, for people who have no device for it.
std::vector<load::KernelDefinition> read_definitions(const Bundle& bundle, const Program& program,
                                                     std::string_view arch);

}  // namespace baton::bundle
