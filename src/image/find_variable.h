#pragma once

#include <string>
#include <string_view>

#include "baton/image.h"

namespace baton::image {

// The symbol of the variable that answers to `name`: by the symbol itself, or by its name in the
// source ("ns::table"). `name` itself where none, or more than one, does.
std::string_view find_variable(const ImageFacts& facts, std::string_view name);

// The name of a variable in the source; its symbol where that is not mangled.
std::string source_name(const VariableFacts& variable);

}  // namespace baton::image
