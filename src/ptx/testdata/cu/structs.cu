// Parameters: structs by value, arrays in structs, empty structs, bit-fields, __grid_constant__.
// targets: sm_80 sm_90
struct Empty {};
struct Nested {
  char c;
  struct {
    short s[3];
    double d;
  } inner;
  unsigned low : 5, high : 27;
};
struct alignas(64) Aligned {
  float4 v[4];
};
extern "C" __global__ void by_value(Empty, Nested n, const __grid_constant__ Aligned a, bool flag,
                                    signed char c, unsigned short h, float3 v, float* out, int i) {
  out[0] = n.c + n.inner.s[i] + n.inner.d + n.low + n.high;
  out[1] = a.v[i].y + (flag ? c : h);
  out[2] = v.z;
  Nested local[4];
  for (int k = 0; k < 4; ++k) local[k].inner.d = out[k];
  out[3] = local[i & 3].inner.d;
}
