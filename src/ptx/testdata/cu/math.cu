// Single and double math, directed rounding, conversions, integer corners.
// targets: sm_80 sm_90
extern "C" __global__ void singles(float* x) {
  float v = x[threadIdx.x];
  x[0] = sinf(v) + cosf(v) + expf(v) + logf(v) + powf(v, 1.7f) + sqrtf(v) + rsqrtf(v) + tanhf(v);
  x[1] = __sinf(v) + __expf(v) + __fdividef(v, 3.0f) + __fmaf_rz(v, v, v) + __fadd_rd(v, 1.0f);
  x[2] = fminf(v, 2.0f) + fmaxf(v, 3.0f) + truncf(v) + rintf(v) + floorf(v) + erff(v) + v / x[5];
  x[3] = __int_as_float(0x7f800000) + __uint2float_ru(7u) + __float2int_rn(v) + __saturatef(v);
}
extern "C" __global__ void doubles(double* x) {
  double v = x[threadIdx.x];
  x[0] = sin(v) + pow(v, 2.3) + exp(v) + log(v) + sqrt(v) + 1.0 / v + fma(v, v, 1e-300);
  x[1] = __dadd_rz(v, 0.1) + __double2ll_ru(v) + __ll2double_rd(3) + fmod(v, 0.3);
}
extern "C" __global__ void integers(long long* l, int* i, unsigned* u) {
  l[0] = l[1] * l[2] + __mul64hi(l[3], l[4]) + l[5] / l[6] + l[7] % 1000 + __popcll(l[8]);
  i[0] = __mulhi(i[1], i[2]) + abs(i[3]) + min(i[4], i[5]) + (i[6] >> (i[7] & 31)) + i[8] / 10;
  u[0] = __umulhi(u[1], u[2]) + __usad(u[3], u[4], u[5]) + u[6] % 7 + __vadd4(u[7], u[8]);
}
