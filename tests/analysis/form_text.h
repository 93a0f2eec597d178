#pragma once

#include <string>

#include "ptx/isa.h"

namespace baton::record {

// What the analysis takes an instruction of that row of the table for, with other modifiers too.
std::string form_text(const ptx::Form& form);

}  // namespace baton::record
