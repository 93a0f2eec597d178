#pragma once

#include "baton/device.h"
#include "baton/image.h"

namespace baton::tools {

// Whether the device is the simulated GPU, whose times say nothing of a GPU.
bool is_simulated(const Device& device);

// Whether the device runs an image. The simulated GPU executes PTX: of a fatbin it takes that,
// whatever machine code the fatbin has too.
Compatibility runs_on_device(ImageFacts facts, const Device& device);

}  // namespace baton::tools
