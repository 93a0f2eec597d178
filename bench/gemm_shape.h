#pragma once

#include <cstdint>
#include <string>

namespace baton::bench {

// out = scale * norm(in) · weightsᵀ, so many times one after the other, each time with other
// weights.
struct GemmShape {
  std::int64_t batch = 0;    // rows of in and out
  std::int64_t rows = 0;     // of the weights: columns of out
  std::int64_t columns = 0;  // of the weights and of the normed values
  bool fp8 = false;          // e4m3 weights and normed values; else bf16
  std::int64_t pairs = 0;

  std::int64_t element() const { return fp8 ? 1 : 2; }
  std::int64_t weights() const { return rows * columns; }  // of one pair, in elements
  std::int64_t outs() const { return batch * rows; }
  // Keeps results, with values as the benchmark has them, to some tens.
  float scale() const;
  std::string name() const;
};

}  // namespace baton::bench
