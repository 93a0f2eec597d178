#pragma once

#include <functional>
#include <string>

#include "baton/program.h"

namespace baton {

// Which key and file name stand for a kernel that is in memory: {"ptx", "images/k.ptx"}.
using MemoryKernelName = std::function<std::pair<std::string, std::string>(const ProgramKernel&)>;

// The program as a program file, with paths relative to its folder: reading it there gives an equal
// program. `in_memory` is called for kernels that come as images or compiled. Throws what it
// throws, and kInvalidInput for an argument that a program file cannot have.
std::string write_program(const Program& program, const MemoryKernelName& in_memory);

// The steps of a group as an array: [{ … }, { … }].
std::string toml_steps(const std::vector<ProgramStep>& steps);

}  // namespace baton
