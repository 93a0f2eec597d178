#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "baton/image.h"
#include "baton/metadata.h"
#include "cli/output.h"

namespace baton::cli {

// What `baton check` makes of launch metadata: how kernels are called, held against their image.

// The metadata in NAME.tvm_meta.json beside an image that is a file of its own; nothing where there
// is none. Throws for one that cannot be read.
std::optional<FoundMetadata> metadata_beside(const std::filesystem::path& image);

// Holds a module's functions against the kernels of its image: that they are there, with as many
// parameters, of the same sizes, and the blocks that they were compiled for. Throws kInvalidInput
// or kNotFound naming function and parameter; what is legal and looks wrong is a warning.
void hold_metadata(const ModuleMetadata& module, const ImageFacts& image, const std::string& name,
                   Output& output);

}  // namespace baton::cli
