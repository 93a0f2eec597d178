#pragma once

#include <string_view>

namespace baton::shim {

// What a library tells `baton exec` of calls that returned an error, where BATON_EXEC_API_ERRORS
// asks for it: of those of the program (explicit), or also of those that Baton's own libraries make
// for it (all). Each error is told once for the calls that led to it, and again
// with its count when the process ends.
class CallErrors {
 public:
  enum class Which { kNone, kExplicit, kAll };
  // Throws kInvalidInput for another word in the environment.
  static Which which();

  // A call of this library returned the error of that number. `function`: its name; empty: that of
  // the symbol that was called from outside of the library. Never throws.
  static void note(std::string_view function, int number, const char* name,
                   const char* text) noexcept;
};

}  // namespace baton::shim
