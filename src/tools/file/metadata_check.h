#pragma once

#include <string>
#include <vector>

#include "baton/image.h"
#include "baton/metadata.h"

namespace baton::tools {

// Checks a module's functions against the kernels of its image: names, parameters and the block
// that each was compiled for. `name` is what messages call the image. Throws kNotFound or
// kInvalidInput for what does not agree; what is doubtful is a remark.
void check_metadata(const ModuleMetadata& module, const ImageFacts& image, const std::string& name,
                    std::vector<std::string>& remarks);

}  // namespace baton::tools
