#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"
#include "image/names/source_type.h"

namespace baton::image {

// Fills the demangled name of a kernel, and the parameters' types from it where it says them. A
// name that disagrees with the parameters the image has, in number or in size, is not believed.
void apply_name(KernelFacts& kernel);

// Whether that name tells the parameters' types.
bool has_types_in_name(const KernelFacts& kernel);

// Gives the parameters these types, which are as many. Where one disagrees with the size of its
// parameter, none is believed.
void apply_types(KernelFacts& kernel, const std::vector<SourceType>& types);

// How a parameter of unknown source type is called in messages: "pointer", "i32", "12 bytes".
std::string describe_type(const ParamFacts& param);

// A demangled name without its parameters: "norm<float>". Template arguments may have parentheses.
std::string_view without_params(std::string_view demangled);

// A parameter in a signature: "float const* x", "float const*".
std::string declaration_text(const ParamFacts& param, std::string_view name);

}  // namespace baton::image
