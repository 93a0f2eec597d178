#pragma once

#include <string_view>

#include "base/error.h"
#include "base/system/dynamic_library.h"

namespace baton::compiler {

// Sets `function` to the address of a symbol. Throws kNotFound where the library lacks it; `needed`
// names the library and version that has it.
template <typename Function>
void require_symbol(const DynamicLibrary& library, Function& function, const char* symbol,
                    std::string_view needed) {
  function = reinterpret_cast<Function>(library.symbol(symbol));
  if (function != nullptr) return;
  throw error(ErrorCode::kNotFound, "{} has no {}: {} or later is needed", library.path(), symbol,
              needed);
}

}  // namespace baton::compiler
