#pragma once

// What follows an all-reduce on each rank, for the host and for the kernels. Elements and weights
// have one dtype. With r = the reduction, rounded to that dtype:
//   s = r + add, added in f32 and rounded            (s = r without `add`)
//   normed = s * (1 / sqrt(mean of s * s in its row + epsilon)) * weight, in f32, rounded once
// The mean is the sum times the rounded reciprocal of the row's length. The result of the all-reduce
// becomes s. All roundings are to nearest, ties to even. Only the dtype and the number of elements in
// a row decide the order of the sum in the mean.

namespace baton::peer {

struct Epilogue {
  unsigned long long add = 0;     // address of as many elements as are reduced; 0: none
  unsigned long long weight = 0;  // address of a row
  unsigned long long normed = 0;  // address of as many elements as are reduced
  unsigned long long row = 0;     // elements of a row; 0: no norm
  float epsilon = 0;

  bool is_none() const { return add == 0 && row == 0; }
};

}  // namespace baton::peer
