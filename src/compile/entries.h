#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "compile/nvrtc/program.h"
#include "compile/request.h"

namespace baton::compiler {

// Whether the error is about a name expression, and not about the source.
bool is_about_entry(const Diagnostic& diagnostic);

// The entries that the compiler could not find, where nothing else was wrong.
std::unordered_set<std::string_view> unknown_entries(const Attempt& failed,
                                                     const std::vector<std::string>& entries);

// Those of the entries of which the compiler says that they are templates without their arguments.
std::vector<std::string> templates_among(const Attempt& failed,
                                         const std::vector<std::string>& entries);

// Looks for them among the kernels of `made`, which was compiled without them: they may be no
// expressions of C++, or lack their template arguments. Throws where there is none.
void find_in_image(const Request& request, const std::unordered_set<std::string_view>& unknown,
                   const Attempt& failed, Attempt& made);

}  // namespace baton::compiler
