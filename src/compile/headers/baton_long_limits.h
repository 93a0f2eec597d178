// Each limit has its own type, as the host compiler has it. CUDA's <cuda/std/climits> mixes `long`
// with `long long` under NVRTC, so this is included again after it: no #pragma once.
#undef LONG_MIN
#undef LONG_MAX
#undef ULONG_MAX
#undef LLONG_MIN
#undef LLONG_MAX
#undef ULLONG_MAX
#define LONG_MIN (-LONG_MAX - 1L)
#define LONG_MAX 0x7fffffffffffffffL
#define ULONG_MAX 0xffffffffffffffffUL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffULL
