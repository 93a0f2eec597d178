#pragma once

#include <string>

#include "baton/executable.h"
#include "tools/file/program_file.h"

namespace baton::tools {

// What would let more launches of a program start early than its check says: "16 edges are full;
// --rewrite wait makes 16 of them programmatic". Empty if nothing does, and where `options`, those
// of the check, rewrite already or switch PDL off. Takes as long as another load of the program.
std::string rewrite_advice(const ProgramFile& program, const Device& device,
                           const PrepareOptions& options, const Bindings& bindings,
                           const CheckReport& report);

}  // namespace baton::tools
