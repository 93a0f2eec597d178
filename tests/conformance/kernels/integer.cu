#include "integer_ops.h"

template <typename T> struct Unsigned { using type = T; };
template <> struct Unsigned<signed char> { using type = unsigned char; };
template <> struct Unsigned<short> { using type = unsigned short; };
template <> struct Unsigned<int> { using type = unsigned; };
template <> struct Unsigned<long long> { using type = unsigned long long; };
// What U is multiplied in, so that 16-bit products do not overflow an int.
template <typename U> struct Wide { using type = U; };
template <> struct Wide<unsigned char> { using type = unsigned; };
template <> struct Wide<unsigned short> { using type = unsigned; };

template <typename T>
__device__ T apply(int op, T a, T b) {
  using U = typename Unsigned<T>::type;
  using W = typename Wide<U>::type;
  constexpr int kBits = sizeof(T) * 8;
  switch (op) {
#define X(name, expression) \
  case kInteger_##name: return expression;
    INTEGER_OPS(X)
#undef X
  }
  return T(0);
}

template <typename T>
__global__ void integer_op(T* out, const T* a, const T* b, unsigned n, int op) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = apply(op, a[i], b[i]);
}

// Each thread writes every intrinsic's result for one pair of operands.
extern "C" __global__ void intrinsics(unsigned long long* out, const unsigned long long* x,
                                      const unsigned long long* y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long a = x[i], b = y[i];
  const unsigned lo = static_cast<unsigned>(a), hi = static_cast<unsigned>(a >> 32);
  const unsigned other = static_cast<unsigned>(b);
  unsigned long long* const mine = out + 32 * i;
  int k = 0;
  mine[k++] = __popc(lo);
  mine[k++] = __popcll(a);
  mine[k++] = __clz(lo);
  mine[k++] = __clzll(a);
  mine[k++] = __ffs(lo);
  mine[k++] = __ffsll(a);
  mine[k++] = __brev(lo);
  mine[k++] = __brevll(a);
  mine[k++] = __umulhi(lo, other);
  mine[k++] = static_cast<unsigned>(__mulhi(static_cast<int>(lo), static_cast<int>(other)));
  mine[k++] = __umul64hi(a, b);
  mine[k++] = __mul64hi(static_cast<long long>(a), static_cast<long long>(b));
  mine[k++] = __byte_perm(lo, hi, other & 0x7777);
  mine[k++] = __funnelshift_l(lo, hi, other);
  mine[k++] = __funnelshift_r(lo, hi, other);
  mine[k++] = __funnelshift_lc(lo, hi, other & 63);
  mine[k++] = __funnelshift_rc(lo, hi, other & 63);
  mine[k++] = __umul24(lo & 0xffffff, other & 0xffffff);
  mine[k++] = __usad(lo, other, hi);
  mine[k++] = static_cast<unsigned>(__sad(static_cast<int>(lo), static_cast<int>(other), hi));
  mine[k++] = static_cast<unsigned>(__dp4a(static_cast<int>(lo), static_cast<int>(other), 100));
  mine[k++] = __dp4a(lo, other, 100u);
  mine[k++] = __uhadd(lo, other);
  mine[k++] = static_cast<unsigned>(__rhadd(static_cast<int>(lo), static_cast<int>(other)));
  mine[k++] = __vadd4(lo, other);
  mine[k++] = static_cast<unsigned>(__vmaxs2(lo, other));
  mine[k++] = __vabsdiffu4(lo, other);
  while (k < 32) mine[k++] = 0;
}
