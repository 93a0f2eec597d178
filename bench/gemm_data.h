#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "baton/baton.h"
#include "gemm_shape.h"

namespace baton::bench {

// One of bench/kernels.
Source kernel_source(const char* file, std::string prelude);

// From the reference, as a part of 1 + |what is wanted|: how many elements are further off than
// they may be, and the greatest.
struct Difference {
  unsigned wrong = 0;
  float greatest = 0;
};

// What all arms work on: weights and norm, the rows that the first pair reads, those that each pair
// writes and the next one reads, and normed values. One thread; its calls return when their work is
// done.
class GemmData {
 public:
  GemmData(const Device& device, const GemmShape& shape);

  const GemmShape& shape() const { return shape_; }
  CUdeviceptr weights(std::int64_t pair) const;
  CUdeviceptr norm() const { return norm_.address(); }
  // What the pair of that number reads; what it writes has the next number.
  CUdeviceptr rows(std::int64_t pair) const;
  CUdeviceptr normed() const { return normed_.address(); }
  // For gemm_program.
  Bindings bindings() const;

  // Makes NaNs of all that pairs write.
  void forget() const;
  // What the last pair wrote.
  std::vector<std::uint16_t> last() const;
  // Holds what every pair wrote against the reference, given what that pair read.
  Difference difference(float tolerance) const;
  // How long a kernel takes that does nothing but read all weights, in seconds.
  double read();

 private:
  void make(const char* kernel, const Memory& memory, std::int64_t count) const;

  const GemmShape shape_;
  Stream stream_;
  Event begin_, end_;
  Module module_;
  Kernel read_all_;
  std::uint32_t processors_;
  Memory weights_, norm_, rows_, normed_, scales_, wrong_;
};

}  // namespace baton::bench
