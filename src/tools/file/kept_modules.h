#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "baton/bundle.h"
#include "baton/executable.h"

namespace baton::tools {

// The modules of a program that is not loaded: sources are compiled for `arch`, images read.
std::vector<Executable::KernelModule> describe_modules(const Program& program,
                                                       const std::string& arch);
// The same of a bundle, which has what its sources were compiled to. Where it has nothing for
// `arch`, what it was built for first.
std::vector<Executable::KernelModule> describe_modules(const Bundle& bundle,
                                                       const std::string& arch);

// Modules that were loaded from a bundle, with the texts of their sources. Throws where a part is
// damaged.
std::vector<Executable::KernelModule> with_sources(const Bundle& bundle,
                                                   std::vector<Executable::KernelModule> modules);

// Writes the sources as they were, with the files of their own folders that they include, their PTX
// and machine code, and images byte for byte; and manifest.json, which says what was made from
// what. `option` is what messages call the folder. What cannot be written as it was is a remark.
// Returns the paths written.
std::vector<std::string> keep_modules(const Program& program,
                                      const std::vector<Executable::KernelModule>& modules,
                                      std::string_view option, const std::filesystem::path& folder,
                                      const FileGuard& files, std::vector<std::string>& remarks);

}  // namespace baton::tools
