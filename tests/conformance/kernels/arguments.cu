#include "arguments.h"

template <typename T>
__global__ void echo(T* out, T value) {
  *out = value;
}

extern "C" __global__ void mixed(Mixed* out, char a, double b, short c, Aligned16 d, bool e,
                                 unsigned long long f, Tiny g, float h) {
  out->a = a;
  out->b = b;
  out->c = c;
  out->d = d;
  out->e = e;
  out->f = f;
  out->g = g;
  out->h = h;
}

extern "C" __global__ void sum_large(unsigned* out, Large large) {
  unsigned sum = 0;
  for (int i = 0; i < kLargeWords; ++i) sum = sum * 31 + large.words[i];
  *out = sum;
}

// A struct by value, indexed by what only the running thread knows.
extern "C" __global__ void pick(unsigned* out, Large large, int stride) {
  out[threadIdx.x] = large.words[(threadIdx.x * stride) % kLargeWords];
}

extern "C" __global__ void nothing() {}

#define P8(n) int n##0, int n##1, int n##2, int n##3, int n##4, int n##5, int n##6, int n##7
#define S8(n) (n##0 + 2 * n##1 + 3 * n##2 + 4 * n##3 + 5 * n##4 + 6 * n##5 + 7 * n##6 + 8 * n##7)
extern "C" __global__ void many(int* out, P8(a), P8(b), P8(c), P8(d), P8(e), P8(f), P8(g), P8(h),
                                P8(i), P8(j)) {
  *out = S8(a) + 3 * S8(b) + 5 * S8(c) + 7 * S8(d) + 11 * S8(e) + 13 * S8(f) + 17 * S8(g) +
         19 * S8(h) + 23 * S8(i) + 29 * S8(j);
}

extern "C" __global__ void swap_pointers(int* const* from, int** to) { *to = *from; }

extern "C" __global__ void null_is_null(int* out, const float* pointer) { *out = pointer == nullptr; }
