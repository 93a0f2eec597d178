#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

template <typename To, typename From>
__global__ void convert(To* out, const From* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<To>(in[i]);
}

// A float to integers in every rounding, saturating as the device does.
extern "C" __global__ void to_integers(long long* out, const float* f, const double* d, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long* const mine = out + 16 * i;
  mine[0] = __float2int_rn(f[i]), mine[1] = __float2int_rz(f[i]);
  mine[2] = __float2int_rd(f[i]), mine[3] = __float2int_ru(f[i]);
  mine[4] = __float2uint_rn(f[i]), mine[5] = __float2uint_rz(f[i]);
  mine[6] = __float2ll_rn(f[i]);
  mine[7] = static_cast<long long>(__float2ull_rz(f[i]));
  mine[8] = __double2int_rn(d[i]), mine[9] = __double2int_rz(d[i]);
  mine[10] = __double2int_rd(d[i]), mine[11] = __double2uint_ru(d[i]);
  mine[12] = __double2ll_rn(d[i]), mine[13] = __double2ll_rd(d[i]);
  mine[14] = static_cast<long long>(__double2ull_rn(d[i]));
  mine[15] = __double_as_longlong(d[i]) ^ __float_as_int(f[i]);
}

extern "C" __global__ void from_integers(double* out, const long long* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double* const mine = out + 12 * i;
  const int narrow = static_cast<int>(in[i]);
  const unsigned long long wide = static_cast<unsigned long long>(in[i]);
  mine[0] = __int2float_rn(narrow), mine[1] = __int2float_rz(narrow);
  mine[2] = __int2float_rd(narrow), mine[3] = __int2float_ru(narrow);
  mine[4] = __uint2float_rn(static_cast<unsigned>(narrow));
  mine[5] = __ll2float_rn(in[i]), mine[6] = __ull2float_rz(wide);
  mine[7] = __ll2double_rn(in[i]), mine[8] = __ll2double_rd(in[i]);
  mine[9] = __ull2double_rn(wide), mine[10] = __ull2double_ru(wide);
  mine[11] = __int2double_rn(narrow);
}

extern "C" __global__ void narrow_doubles(float* out, const double* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[4 * i] = __double2float_rn(in[i]), out[4 * i + 1] = __double2float_rz(in[i]);
  out[4 * i + 2] = __double2float_rd(in[i]), out[4 * i + 3] = __double2float_ru(in[i]);
}

extern "C" __global__ void half_to_float(float* out, const __half* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __half2float(in[i]);
}
extern "C" __global__ void float_to_half(__half* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2half_rn(in[i]);
}
extern "C" __global__ void bfloat_to_float(float* out, const __nv_bfloat16* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __bfloat162float(in[i]);
}
extern "C" __global__ void float_to_bfloat(__nv_bfloat16* out, const float* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2bfloat16_rn(in[i]);
}

// Half precision arithmetic, alone and in pairs.
extern "C" __global__ void half_arithmetic(__half* out, const __half* a, const __half* b,
                                           unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half x = a[i], y = b[i];
  __half* const mine = out + 6 * i;
  mine[0] = __hadd(x, y);
  mine[1] = __hsub(x, y);
  mine[2] = __hmul(x, y);
  mine[3] = __hfma(x, y, x);
  const __half2 pair = __hadd2(__halves2half2(x, y), __halves2half2(y, y));
  mine[4] = __low2half(pair);
  mine[5] = __high2half(pair);
}

extern "C" __global__ void fp8_both_ways(float* out, unsigned char* bits, const float* in,
                                         unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_fp8_e4m3 e4m3(in[i]);
  const __nv_fp8_e5m2 e5m2(in[i]);
  bits[2 * i] = e4m3.__x;
  bits[2 * i + 1] = e5m2.__x;
  out[2 * i] = static_cast<float>(e4m3);
  out[2 * i + 1] = static_cast<float>(e5m2);
}
