#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

#include "baton/buffer.h"
#include "gemm_shape.h"

namespace baton::bench {

// A matrix product of another author: out = scale * in · weightsᵀ in all of `shape`. One
// thread; the device's context is current.
class ForeignGemm {
 public:
  virtual ~ForeignGemm() = default;
  // Into a stream that is being captured, after the kernel that writes `in`.
  virtual void enqueue(CUdeviceptr weights, CUdeviceptr in, CUdeviceptr out, CUstream stream) = 0;
};

struct NamedForeignGemm {
  std::string name;
  bool pdl = false;  // begins before the kernel that writes `in` has ended, and waits for it
  std::unique_ptr<ForeignGemm> gemm;
};

// In several settings, the one that comes first being what one gets without asking. None, and why,
// where the library is not there or has none for the shape.
struct ForeignGemms {
  std::vector<NamedForeignGemm> gemms;
  std::string absent;
};

// cuBLASLt's: its first choice, and its next ones up to `count`. `library`: its file, or
// its name where the loader finds it. `workspace` outlives them all.
inline constexpr std::size_t kCublasWorkspace = 32 << 20;  // bytes: what NVIDIA advises for Hopper
ForeignGemms cublas_gemms(const GemmShape& shape, const Memory& workspace,
                          const std::string& library, int count);
// CUTLASS's example 63, FP8 alone, in the example's own setting and with other ratios.
ForeignGemms cutlass_gemms(const GemmShape& shape);

}  // namespace baton::bench
