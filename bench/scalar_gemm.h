#pragma once

namespace baton::bench {

// C = A * B for row-major n x n matrices: the three loops as one writes them first, compiled with
// -O2 -fno-tree-vectorize. The yardstick of the simulated GPU's GEMM.
void scalar_gemm(float* c, const float* a, const float* b, int n);

}  // namespace baton::bench
