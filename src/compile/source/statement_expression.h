#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace baton::compiler {

// Text to be inserted in front of a byte of another.
struct Insertion {
  std::size_t at = 0;
  std::string_view text;
};

// What makes a lambda of each of GNU's statement expressions in `text`: "([&]{ a; return b; }())"
// of "({ a; b; })". Both give the last statement's value.
//
// A `return` would leave the lambda instead of the function. An expression that contains one, or a
// word of which `may_return` says so, stays as it is. `may_be_statement` is false for a word in
// round brackets.
using MayReturn = std::function<bool(std::string_view word, bool may_be_statement)>;
std::vector<Insertion> lambdas_for_statement_expressions(std::string_view text,
                                                         const MayReturn& may_return);

}  // namespace baton::compiler
