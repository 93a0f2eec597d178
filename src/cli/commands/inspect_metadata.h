#pragma once

#include "baton/metadata.h"
#include "cli/output/output.h"

namespace baton::cli {

// A table of the functions for people, "metadata" in the JSON object.
void show_metadata(const FoundMetadata& found, Output& output);

}  // namespace baton::cli
