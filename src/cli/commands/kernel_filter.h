#pragma once

#include <string_view>
#include <vector>

#include "baton/executable.h"
#include "cli/command_line/options.h"

namespace baton::cli {

// The kernels that --kernel and --arch of `inspect` leave.

// Whether the kernel is one of them. `name`: what a program calls it; empty outside of programs.
bool is_wanted(const InspectCommand& command, const KernelFacts& kernel,
               std::string_view name = {});

// Leaves those kernels of a program, and the modules that have some.
void keep_wanted(const InspectCommand& command, std::vector<Executable::KernelModule>& modules);

// Throws kNotFound where nothing is left of what the file has. `architectures`: what it is for.
void require_some(const InspectCommand& command, bool is_some,
                  const std::vector<std::string>& architectures);

// Throws kInvalidInput where one of the options is given for a file that has no list of kernels.
void refuse_filter(const InspectCommand& command, std::string_view kind);

}  // namespace baton::cli
