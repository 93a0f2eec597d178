#pragma once

#include "baton/image.h"
#include "cli/output.h"

namespace baton::cli {

// What an image says of its kernels: a table for people, "kernels" in the JSON object. What the
// image does not say is left blank, and null in JSON.
void show_kernels(const ImageFacts& facts, Output& output);
// The table alone.
void show_kernel_table(const ImageFacts& facts, Output& output);

}  // namespace baton::cli
