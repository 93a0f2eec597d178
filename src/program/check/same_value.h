#pragma once

#include <cmath>
#include <variant>

namespace baton {

// Compares two variants as operator== does, except that a NaN is equal to a NaN: the same text is
// the same program.
template <typename Value>
bool same_value(const Value& a, const Value& b) {
  const double* x = std::get_if<double>(&a);
  const double* y = std::get_if<double>(&b);
  return a == b || (x != nullptr && y != nullptr && std::isnan(*x) && std::isnan(*y));
}

}  // namespace baton
