// Dense and sparse switches, goto, nested loops with break and continue.
// targets: sm_80 sm_90
extern "C" __global__ void dense(int* out, int which) {
  int v = out[threadIdx.x];
  switch (which) {
    case 0: v += 3; break;
    case 1: v *= 5; break;
    case 2: v ^= 7;  // falls through
    case 3: v -= 11; break;
    case 4: v <<= 2; break;
    case 5: v >>= 1; break;
    case 6: v = ~v; break;
    case 7: v = v % 13; break;
    case 8: v = v / 17; break;
    default: v = 0;
  }
  out[threadIdx.x] = v;
}
extern "C" __global__ void sparse(int* out, int which) {
  switch (which) {
    case 10: out[0] = 1; return;
    case 1000: out[1] = 2; break;
    case 1000000: out[2] = out[3]; break;
    case -5: out[4] = 9; break;
  }
  out[5] = 1;
}
extern "C" __global__ void loops(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = in[i]; j < n; j += 2) {
      if (in[j] < 0) goto done;
      if (in[j] == 3) continue;
      if (in[j] == 4) break;
      sum += in[j] * j;
    }
    while (sum > 100 && in[sum & 15]) sum -= in[i];
  }
done:
  out[threadIdx.x] = sum;
}
extern "C" __global__ void forever(volatile int* flag) {
  for (;;) {
    if (threadIdx.x == 3) *flag += 1;
  }
}
