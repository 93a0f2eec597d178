// 128-bit integers: carry chains, wide products and division in software.
extern "C" __global__ void int128(unsigned long long* out, const unsigned long long* x,
                                  const unsigned long long* y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned __int128 a = static_cast<unsigned __int128>(x[i]) << 64 | y[i];
  const unsigned __int128 b = static_cast<unsigned __int128>(y[i] | 1) << (x[i] % 64) | x[i];
  const unsigned __int128 results[] = {a + b, a - b, a * b, a / b, a % b, a << (x[i] % 128),
                                       a >> (y[i] % 128)};
  unsigned long long* const mine = out + 14 * i;
  for (int k = 0; k < 7; ++k) {
    mine[2 * k] = static_cast<unsigned long long>(results[k]);
    mine[2 * k + 1] = static_cast<unsigned long long>(results[k] >> 64);
  }
}
