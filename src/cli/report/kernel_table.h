#pragma once

#include <span>
#include <string>

#include "baton/compile.h"
#include "baton/image.h"
#include "cli/output/output.h"

namespace baton::cli {

// What an image says of its kernels: a table for people, "kernels" in the JSON object. What the
// image does not say is left blank, and null in JSON. `made`: what the compile of them told as
// well.
void show_kernels(const ImageFacts& facts, Output& output,
                  std::span<const CompiledKernel> made = {});
// "saxpy(float*, float const*, float, int)": demangled names bring their parameters with them.
std::string signature_of(const KernelFacts& kernel);
// The JSON and the table alone.
void add_kernels(const ImageFacts& facts, Output& output,
                 std::span<const CompiledKernel> made = {});
void show_kernel_table(const ImageFacts& facts, Output& output,
                       std::span<const CompiledKernel> made = {});

}  // namespace baton::cli
