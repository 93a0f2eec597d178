// half, bfloat16 and fp8.
// targets: sm_80 sm_90
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
extern "C" __global__ void halves(__half* h, __half2* h2, __nv_bfloat16* b, __nv_bfloat162* b2,
                                  __nv_fp8_e4m3* q, float* f) {
  h[0] = __hfma(h[1], h[2], h[3]) + hexp(h[4]) + __hmax(h[5], h[6]);
  h2[0] = __hfma2(h2[1], h2[2], h2[3]);
  b[0] = b[1] * b[2] + __float2bfloat16(f[0]);
  b2[0] = __hadd2(b2[1], b2[2]);
  q[0] = __nv_fp8_e4m3(f[1]);
  f[2] = static_cast<float>(q[1]) + __half2float(h[7]) + __bfloat162float(b[3]);
  if (__hlt(h[8], h[9])) atomicAdd(h2 + 4, h2[5]);
}
