#pragma once

namespace baton {

// The visitor of a variant that handles every alternative by a function of its own: a forgotten one
// does not compile. std::visit(Overloaded{[](int) {…}, [](double) {…}}, value).
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace baton
