#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "cli/output.h"

namespace baton::cli {

// What a program's kernels were made from, and what compiling gave.

// A table of the kernels, and "modules" and "kernels" of the JSON object.
void show_modules(const std::vector<Executable::KernelModule>& modules, Output& output);

// What was put into kernels without programmatic dependent launch of their own, or why it was not:
// a table, and "rewrites" of the JSON object. Nothing where nothing was to be.
void show_rewrites(const std::vector<Executable::KernelModule>& modules, Output& output);

// Writes the sources as they were, with the files of their own folders that they include, their PTX
// and machine code, and images byte for byte; and manifest.json, which says what was made from
// what. `option` is what messages call the folder. Returns the paths written.
std::vector<std::string> keep_modules(const Program& program,
                                      const std::vector<Executable::KernelModule>& modules,
                                      std::string_view option, const std::filesystem::path& folder,
                                      Output& output);

}  // namespace baton::cli
