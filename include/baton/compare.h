#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/array.h"
#include "baton/dtype.h"
#include "baton/export.h"

namespace baton {

// The allowed difference of two values of one output: |got - want| <= atol + rtol * |want|.
// Integers and bool must be equal.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// Returns rtol and atol of the dtype: f64 1e-7 and 1e-7; f32 1e-4 and 1e-5; f16 2e-3 and 1e-3; bf16
// 1.6e-2 and 1e-2; f8e4m3 0.125 and 0.03125; f8e5m2 0.25 and 0.0625; zero for integers and bool.
BATON_API Tolerance default_tolerance(DType dtype) noexcept;

// An element that exceeds its tolerance.
struct Mismatch {
  std::vector<std::int64_t> index;
  double got = 0, want = 0;
  std::string got_text, want_text;  // as text, exact for 64-bit integers
};

struct Comparison {
  // The most mismatches that `first` lists.
  static constexpr std::size_t kMostListed = 5;

  bool ok = true;
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  // The element that exceeds its tolerance most, or has the greatest difference. An unexpected or
  // missing NaN is worse than any number. Empty without elements.
  std::vector<std::int64_t> worst_index;
  double got = 0, want = 0;         // of the worst element
  std::string got_text, want_text;  // as text, exact for 64-bit integers
  double worst_error = 0;           // |got - want|
  std::vector<Mismatch> first;      // in C order
  // Over all pairs of finite values: |got - want|, its share of |want| where that is not 0, and for
  // floats the number of values of the dtype from one to the other.
  double largest_absolute = 0;
  double largest_relative = 0;
  std::uint64_t largest_ulps = 0;
  // A place or a value that all mismatches share: "every 4th element, from index 3 on; each is 0".
  // Empty if that is not simple.
  std::string pattern;
  Tolerance tolerance;
};

// Compares element by element. Throws kInvalidInput with `name` if dtype or shape differ.
BATON_API Comparison compare(const Array& got, const Array& want, Tolerance tolerance,
                             std::string_view name);

}  // namespace baton
