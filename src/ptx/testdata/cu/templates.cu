// Templates, lambdas, explicit instantiation, launch bounds.
// targets: sm_80 sm_90 sm_90a
template <typename T, int Unroll>
__global__ void __launch_bounds__(256, 2) axpy(T a, const T* __restrict__ x, T* y, int n) {
  const int base = (blockIdx.x * blockDim.x + threadIdx.x) * Unroll;
#pragma unroll
  for (int i = 0; i < Unroll; ++i) {
    if (base + i < n) y[base + i] = a * x[base + i] + y[base + i];
  }
}
template __global__ void axpy<float, 4>(float, const float*, float*, int);
template __global__ void axpy<double, 2>(double, const double*, double*, int);
template __global__ void axpy<unsigned char, 1>(unsigned char, const unsigned char*, unsigned char*,
                                                int);

template <typename F>
__device__ float apply(F f, float x) {
  return f(f(x));
}
extern "C" __global__ void lambdas(float* out, float scale) {
  out[threadIdx.x] = apply([scale](float x) { return x * scale + 1.0f; }, out[threadIdx.x]);
}
