#include "scalar_gemm.h"

namespace baton::bench {

void scalar_gemm(float* c, const float* a, const float* b, int n) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}

}  // namespace baton::bench
