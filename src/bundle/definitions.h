#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baton/bundle.h"
#include "baton/device.h"
#include "load/kernel_definition.h"

namespace baton::bundle {

// What the kernels of the bundle's program are made from, with the build that suits the device
// best: machine code that runs on it, otherwise PTX. Reads no byte of an image. `program` is the
// bundle's. Sources that are parts of the bundle stay unread: they come without their texts. Throws
// kInvalidInput if no build suits, and if the index does not fit the program.
std::vector<load::KernelDefinition> read_definitions(const Bundle& bundle, const Program& program,
                                                     const Device& device);

// The same with the first build for an architecture, for people who have no device for it. Sources
// have their texts.
std::vector<load::KernelDefinition> read_definitions(const Bundle& bundle, const Program& program,
                                                     std::string_view arch);

// The text of the source that a module of that name was compiled from. Empty where the bundle has
// no part with it. Throws where the part is damaged.
std::string source_text(const Bundle& bundle, std::string_view module);

}  // namespace baton::bundle
