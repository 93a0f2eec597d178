#pragma once

#include <string_view>
#include <vector>

#include "ptx/text_edit.h"

namespace baton::trace {

// All names of what is inserted begin so, after the sign of a register or a label.
inline constexpr std::string_view kInsertedPrefix = "baton_trace";

// The changes of a module's text that make a kernel note what its blocks do (instrument.h). The
// kernel has a body, and its module no name with the prefix. Throws kInvalidInput for a body that
// does not parse.
std::vector<ptx::TextEdit> edits_of(const ptx::ParsedModule& module, const ptx::Function& kernel);

}  // namespace baton::trace
