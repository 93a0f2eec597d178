#pragma once

#include <string>

#include "baton/program.h"

namespace baton::tools {

// A Python script that computes what a program should leave in its outputs, by NumPy: its buffers
// have the contents that the program gives them, and the computation is left to fill in. It writes
// NAME.npy for each output into a folder, which `baton run FILE --expect FOLDER` compares.
// `file` and `folder` are the names that its comments use. Throws kInvalidInput for buffers whose
// contents NumPy cannot make: fp8, safetensors files and variables without an init.
std::string reference_script(const Program& program, const std::string& file,
                             const std::string& script, const std::string& folder);

}  // namespace baton::tools
