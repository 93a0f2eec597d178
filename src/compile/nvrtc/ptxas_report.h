#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baton/compile.h"

namespace baton::compiler {

// Asks for registers, spills and time of each kernel, in the log.
inline constexpr std::string_view kPtxasReport = "--ptxas-options=-v";

// Takes what ptxas reports by -v out of a compiler's log and gives it as values, in the order of
// the log; the other lines stay. Lines that it does not know are left alone.
std::vector<CompiledKernel> take_ptxas_report(std::string& log);

}  // namespace baton::compiler
