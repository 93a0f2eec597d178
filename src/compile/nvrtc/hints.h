#pragma once

#include <string>
#include <vector>

#include "compile/nvrtc/diagnostics.h"
#include "compile/request.h"

namespace baton::compiler {

// What to do about errors of the compiler where Baton knows more than their messages say: one
// advice for each kind of error, however often it occurs.
std::vector<std::string> hints_for(const std::vector<Diagnostic>& diagnostics,
                                   const Request& request);

}  // namespace baton::compiler
