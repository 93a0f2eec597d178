#pragma once

// Calls of functions of the device's runtime, whose bodies are elsewhere.

#include <string_view>

#include "pdl/code/code.h"
#include "pdl/origin/origin_pool.h"

namespace baton::overlap {

// Whether what a function of that name does is known: it touches no buffer, or prints.
bool is_known_call(std::string_view function);

// Whether it prints by a format. Its only source is the format's address.
bool prints_text(const Operation& operation);

// Whether all formats that it may print by print numbers alone: %s reads what its argument names.
// `formats`: their origins. What is not a variable of the module with contents may be any format.
bool prints_numbers(const Code& code, const OriginPool& pool, const OriginSet& formats);

}  // namespace baton::overlap
