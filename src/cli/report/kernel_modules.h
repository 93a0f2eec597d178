#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "cli/output/output.h"

namespace baton::cli {

// What a program's kernels were made from, and what compiling gave.

// A table of the kernels, and "modules" and "kernels" of the JSON object.
void show_modules(const std::vector<Executable::KernelModule>& modules, Output& output);

// What was put into kernels without programmatic dependent launch of their own, or why it was not:
// a table, and "rewrites" of the JSON object. Nothing where nothing was to be.
void show_rewrites(const std::vector<Executable::KernelModule>& modules, Output& output);

}  // namespace baton::cli
