#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/nvrtc/program.h"
#include "compile/request.h"

namespace baton::compiler {

bool is_error(const Diagnostic& diagnostic);
bool says(const Diagnostic& error, std::string_view what);

// What is given in place of a header of CUDA whose place is in host code; nothing for all others,
// and for types of Thrust as long as `setup` keeps them.
std::optional<std::string> without_host_library(std::string_view name, const Setup& setup);

// The setup with what the errors say is missing.
Setup advised(const Request& request, const Attempt& failed, Setup setup);

}  // namespace baton::compiler
