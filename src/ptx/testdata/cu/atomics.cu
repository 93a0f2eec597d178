// Atomics, fences, volatile accesses, cache operators.
// targets: sm_80 sm_90
extern "C" __global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  __shared__ int counter;
  if (threadIdx.x == 0) counter = 0;
  __syncthreads();
  atomicAdd(&counter, 2);
  i[0] = atomicAdd(i + 1, 1) + atomicSub(i + 2, 3) + atomicMin(i + 3, 4) + atomicMax(i + 4, 5);
  u[0] = atomicInc(u + 1, 7) + atomicDec(u + 2, 7) + atomicAnd(u + 3, 1) + atomicOr(u + 4, 2) +
         atomicXor(u + 5, 4) + atomicExch(u + 6, 8) + atomicCAS(u + 7, 1u, 2u);
  l[0] = atomicAdd(l + 1, 1ull) + atomicCAS(l + 2, 1ull, 5ull);
  atomicAdd(f, 1.0f);
  atomicAdd(d, 1.0);
  atomicAdd_block(i + 5, counter);
  atomicAdd_system(i + 6, 1);
  __threadfence();
  __threadfence_block();
  __threadfence_system();
  f[1] = __ldg(f + 2) + __ldcg(f + 3) + __ldcs(f + 4) + __ldlu(f + 5) + __ldcv(f + 6);
  __stwt(f + 7, 1.0f);
  __stcs(f + 8, 1.0f);
  float4 v = *reinterpret_cast<float4*>(f + 12);
  *reinterpret_cast<float4*>(f + 16) = v;
  int2 w = __ldg(reinterpret_cast<const int2*>(i + 8));
  *reinterpret_cast<int2*>(i + 10) = w;
}
