#include <cstdio>

// A line for each kind of conversion.
extern "C" __global__ void formats(int i, unsigned u, long long l, double d, const char* text) {
  printf("%d|%5d|%-5d|%05d|%+d|% d|%i\n", i, i, i, i, i, i, i);
  printf("%u|%x|%X|%#x|%o|%c|%%\n", u, u, u, u, u, 'a' + i % 26);
  printf("%lld|%llu|%llx|%ld\n", l, static_cast<unsigned long long>(l), l, static_cast<long>(l));
  printf("%f|%.2f|%10.3f|%-10.1f|%e|%g|%G\n", d, d, d, d, d, d, d);
  printf("%s|%8s|%-8s|%.2s\n", text, text, text, text);
  printf("%*d\n", 7, i);
  printf("%hd|%hu\n", i, u);
  printf("%p|%20p|%-20p|\n", static_cast<void*>(nullptr), reinterpret_cast<void*>(l),
         reinterpret_cast<void*>(l));
  printf("no arguments\n");
}

// Two lines of each thread, the first in one of two branches.
extern "C" __global__ void threads() {
  if (threadIdx.x % 2 == 0) {
    printf("block %d thread %d is even\n", blockIdx.x, threadIdx.x);
  } else {
    printf("block %d thread %d is odd\n", blockIdx.x, threadIdx.x);
  }
  printf("block %d thread %d again\n", blockIdx.x, threadIdx.x);
}

extern "C" __global__ void results(int* out) {
  out[0] = printf("");
  out[1] = printf("%d", 1);
  out[2] = printf("%d %d %f\n", 1, 2, 3.0);
}
