// What nvcc takes as device code, and what it means there.

#include "compile/compile_test.h"

namespace baton::nvcc_parity_test {
namespace {

class NvccParity : public CompileTest {};

// What nvcc takes without a message.
TEST_F(NvccParity, TakesWhatNvccTakes) {
  const std::string sources[] = {
      R"(__global__ void k(float* o, int64_t n, uint8_t* b, uintptr_t p, uint u) {
           o[0] = INFINITY + NAN + FLT_MAX + INT_MAX + M_PI + HUGE_VALF + (n > INT64_MAX) + u;
           static_assert(UINT64_C(1) << 40 > UINT32_C(4294967295) && sizeof(INT64_C(1)) == 8, ""); })",
      R"(#include <math.h>
         #include <limits>
         __constant__ float lowest = -INFINITY;
         static float table[] = {INFINITY, NAN, HUGE_VALF, std::numeric_limits<float>::infinity()};
         static_assert(INFINITY > FLT_MAX && HUGE_VAL > DBL_MAX && NAN != NAN, "");
         __global__ void k(float* o) { o[0] = lowest + table[1]; })",
      R"(#include <cuda_fp16.h>
         #include <cuda_bf16.h>
         __global__ void k(half* h, __nv_bfloat16* b) { h[0] = __hadd(h[1], h[2]); b[0] = b[1] + b[2]; })",
      R"(__global__ void k(float* o) {
           cudaGridDependencySynchronize(); o[0] = 1; cudaTriggerProgrammaticLaunchCompletion(); })",
      R"(#include <cuda_runtime.h>
         #include <cstdint>
         #include <cstdio>
         #include <cassert>
         #include <iostream>
         #include <vector>
         #include <fcntl.h>
         #include <omp.h>
         #include <sys/resource.h>
         #include <sys/stat.h>
         __global__ void k(int* o) { assert(o[0] == 1); printf("%d\n", o[0]); })",
      R"(#include <type_traits>
         #include <limits>
         #include <algorithm>
         #include <cmath>
         #include <array>
         #include <utility>
         template <typename T> __global__ void k(T* o) {
           static_assert(std::is_same_v<std::remove_cv_t<const T>, T>);
           static_assert(std::is_floating_point<T>::value && !std::is_integral_v<T>);
           static_assert(std::make_index_sequence<5>::size() == 5);
           std::array<T, 2> a{1, 2};
           o[0] = std::max(std::sqrt(o[1]), std::numeric_limits<T>::lowest()) + a[1];
           std::swap(o[2], o[3]);
           o[4] = std::pow(o[5], 2) + std::abs(o[6]) + std::isnan(o[7]); }
         template __global__ void k<float>(float*);)",
      R"(static int helper(int x) { return x + 1; }
         const int kCount = 4;
         static const float kTable[2] = {1, 2};
         inline __host__ __device__ int both(int x) { return x; }
         __global__ void k(float* o) { o[0] = helper(kCount) + kTable[both(1)]; })",
      R"(struct P { float a[3]; int n; };
         __constant__ float c[4]; __device__ int d; __managed__ int m;
         void __global__ __launch_bounds__(128, 2) k(const __grid_constant__ P p) { d = p.n + m + c[0]; })",
      R"(#include <mma.h>
         __global__ void k(float* c) {
           nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f;
           nvcuda::wmma::fill_fragment(f, 1.f);
           nvcuda::wmma::store_matrix_sync(c, f, 16, nvcuda::wmma::mem_row_major); })",
  };
  for (const std::string& source : sources) {
    try {
      EXPECT_EQ(read_facts(compiled(source).ptx).kernels.size(), 1u) << source;
    } catch (const Error& error) {
      ADD_FAILURE() << source << "\n" << error.what();
    }
  }
}

// The types of nvcc 13.0 with libstdc++ 12; but NVRTC itself has a pow(float, int), which is a
// float.
TEST_F(NvccParity, MathTakesIntegersAsNvccDoes) {
  const Compiled made = compiled(R"(
    template <typename A, typename B> struct Same { enum { value = 0 }; };
    template <typename A> struct Same<A, A> { enum { value = 1 }; };
    #define IS(type, expression) static_assert(Same<type, decltype(expression)>::value, #expression)
    IS(double, sqrt(2)); IS(double, fabs(-2)); IS(double, exp(1)); IS(double, log(3u));
    IS(double, floor('a')); IS(double, cos(1ll)); IS(double, pow(2, 3)); IS(double, pow(2.0f, 3u));
    IS(double, pow(2, 3.0f)); IS(double, pow(2.0, 3)); IS(double, fmax(1, 2)); IS(double, fmin(1, 2.0f));
    IS(double, atan2(1, 2)); IS(double, fmod(5u, 2l)); IS(double, hypot(3, 4.0)); IS(double, copysign(1, -1));
    IS(float, sqrt(2.0f)); IS(float, pow(2.0f, 3.0f)); IS(float, fmax(1.0f, 2.0f)); IS(double, pow(2.0f, 3.0));
    IS(int, ilogb(8)); IS(long, lround(3)); IS(long long, llrint(3)); IS(bool, isnan(3));
    IS(int, abs(-3)); IS(int, min(1, 2)); IS(unsigned, max(1u, 2));
    __global__ void k(double* o, int n) { o[0] = pow(n, 2) + sqrt(n) + fmax(n, 2) + std::log(n) + std::pow(n, n); })");
  EXPECT_EQ(read_facts(made.ptx).kernels.size(), 1u);
  EXPECT_EQ(made.log, "");
}

TEST_F(NvccParity, TakesCooperativeGroups) {
  const Compiled made = compiled(R"(#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(int* o, int64_t n) {
      auto tile = cg::tiled_partition<32>(cg::this_thread_block());
      o[0] = tile.thread_rank() + INT_MAX; })");
  EXPECT_EQ(read_facts(made.ptx).kernels.size(), 1u);
  EXPECT_EQ(made.log, "");
}

TEST_F(NvccParity, AByteOrderMarkAndALastBackslashMeanNothing) {
  for (const char* text : {"\xEF\xBB\xBF__global__ void k(int* o) { o[0] = 1; }",
                           "__global__ void k(int* o) { o[0] = 1; }\n// the end \\",
                           "__global__ void k(int* o) { o[0] = 1; } \\"}) {
    EXPECT_EQ(read_facts(compiled(text).ptx).kernels.size(), 1u) << text;
  }
  Source source = Source::from_text("\xEF\xBB\xBF__global__ void k(int* o) { o[0] = A; }", "k.cu");
  source.prelude = "\xEF\xBB\xBF#define A 1 \\";
  EXPECT_EQ(read_facts(compiled(source).ptx).kernels.size(), 1u);
}

}  // namespace
}  // namespace baton::nvcc_parity_test
