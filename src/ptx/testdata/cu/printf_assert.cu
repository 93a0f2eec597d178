// vprintf, __assertfail, strings, traps.
// targets: sm_80 sm_90
#ifndef __CUDACC_RTC__
#include <cassert>
#include <cstdio>
#endif
extern "C" __global__ void say(int n, float x, double y, const char* name, long long big) {
  assert(n > 0);
  if (threadIdx.x == 0) {
    printf("n=%d x=%f y=%g \"%s\" %lld\t{braces} // not a comment\n", n, x, y, name, big);
  }
  if (n == 7) __trap();
  if (n == 8) __brkpt();
}
