#include "baton/compile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "baton/error.h"
#include "compile/cache.h"
#include "compile/line_table.h"

namespace baton {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr char kSaxpy[] = R"(
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)";

class Compile : public testing::Test {
 protected:
  Compile() { setenv("BATON_CACHE_DIR", (folder_.path() / "cache").c_str(), 1); }
  ~Compile() override { unsetenv("BATON_CACHE_DIR"); }

  fs::path write(const std::string& name, std::string_view text) {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    write_file_atomically(path, text);
    return path;
  }
  static Compiled compiled(const Source& source, std::vector<std::string> entries = {}) {
    return compile(source, {.arch = "sm_90a", .entries = std::move(entries), .use_cache = true});
  }
  static Compiled compiled(const std::string& text, std::vector<std::string> entries = {}) {
    return compiled(Source::from_text(text, "k.cu"), std::move(entries));
  }
  static Error refusal(const Source& source, const CompileOptions& options = {.arch = "sm_90a"}) {
    try {
      compile(source, options);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << source.name << " compiles";
    return Error(ErrorCode::kInternal, "");
  }
  static std::string ptx(const Compiled& of) { return std::string(of.ptx.bytes()); }

  TemporaryDirectory folder_;
};

TEST_F(Compile, GivesPtxAndACubinThatAgree) {
  const Compiled saxpy = compiled(kSaxpy);
  ASSERT_TRUE(saxpy.cubin);
  EXPECT_FALSE(saxpy.cache_hit);
  EXPECT_GT(saxpy.seconds, 0);
  const ImageFacts facts = merge_facts(read_facts(saxpy.ptx), read_facts(*saxpy.cubin));
  EXPECT_EQ(facts.arch, "sm_90a");
  const KernelFacts& kernel = find_kernel(facts, "", "k.cu");
  EXPECT_GT(kernel.registers.value(), 0u);
  const auto& params = kernel.params.value();
  ASSERT_EQ(params.size(), 4u);
  EXPECT_EQ(params[0].kind, ParamKind::kPointer);
  EXPECT_EQ(params[2].dtype, DType::kF32);
  EXPECT_EQ(params[3].dtype, DType::kI32);
}

TEST_F(Compile, AVirtualArchitectureGivesPtxAlone) {
  const Compiled virtual_only = compile(Source::from_text(kSaxpy), {.arch = "compute_90"});
  EXPECT_FALSE(virtual_only.cubin);
  EXPECT_THAT(ptx(virtual_only), HasSubstr(".target sm_90"));
}

TEST_F(Compile, TellsWhatEachKernelTook) {
  const std::string source = R"(
    extern "C" __global__ void light(float* p) { __shared__ float s[64]; s[threadIdx.x] = p[0];
      __syncthreads(); p[1] = s[3]; }
    extern "C" __global__ void __launch_bounds__(1024, 2) heavy(float* p, int n) {
      float a[64];
      for (int i = 0; i < 64; i++) a[i] = p[i * n];
      for (int j = 0; j < n; j++)
        for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 1) % 64] + p[j];
      for (int i = 0; i < 64; i++) p[i * n] = a[i]; })";
  for (const bool hit : {false, true}) {
    const Compiled made = compiled(source);
    EXPECT_EQ(made.cache_hit, hit);
    EXPECT_EQ(made.log, "");
    const ImageFacts facts = read_facts(made);
    ASSERT_EQ(made.kernels.size(), 2u);
    ASSERT_EQ(facts.kernels.size(), 2u);
    for (const CompiledKernel& kernel : made.kernels) {
      const bool heavy = kernel.symbol == "heavy";
      const KernelFacts& same = *facts.kernel(kernel.symbol);
      EXPECT_GT(kernel.registers, 0u);
      EXPECT_EQ(kernel.registers, same.registers);
      EXPECT_EQ(kernel.spill_store_bytes > 0, heavy);
      EXPECT_EQ(kernel.spill_load_bytes > 0, heavy);
      EXPECT_EQ(kernel.spill_store_bytes, same.spill_bytes);
      EXPECT_EQ(kernel.stack_bytes, same.local_bytes);
      EXPECT_EQ(kernel.static_shared, heavy ? 0u : 256u);
      EXPECT_GT(kernel.seconds, 0);
      EXPECT_LT(kernel.seconds, made.seconds);
    }
  }
  EXPECT_TRUE(compile(Source::from_text(source), {.arch = "compute_90"}).kernels.empty());
}

TEST_F(Compile, ErrorsSayWhere) {
  const fs::path path = write("bad.cu", "__global__ void k(int* o) {\n  o[0] = missing;\n}\n");
  const Error error = refusal(Source::from_file(path));
  EXPECT_EQ(error.code(), ErrorCode::kCompile);
  EXPECT_EQ(error.where().to_string(), path.string() + ":2:10");
  EXPECT_EQ(error.message(), "identifier \"missing\" is undefined");
  EXPECT_THAT(error.notes().at(0), HasSubstr(":2:10: error: identifier"));
  EXPECT_THAT(error.notes().at(0), HasSubstr("  o[0] = missing;\n"));
  EXPECT_EQ(refusal(Source::from_text("int x", "here")).where().file, "here");
}

TEST_F(Compile, ErrorsInAHeaderNameTheHeader) {
  write("inc/h.cuh", "\n\nint y = missing;\n");
  Source source = Source::from_text("#include \"h.cuh\"\n", "k.cu");
  source.directory = folder_.path();
  source.include = {"inc"};
  EXPECT_EQ(refusal(source).where().to_string(), (folder_.path() / "inc/h.cuh").string() + ":3:9");
}

TEST_F(Compile, ThePreludeHasLinesOfItsOwn) {
  Source source =
      Source::from_text("__global__ void k(float* o) {\n  o[0] = EPS + missing;\n}\n", "k.cu");
  source.prelude = "#define EPS 1e-5f";
  EXPECT_EQ(refusal(source).where().to_string(), "k.cu:2:16");
  source.text = "__global__ void k(float* o) {\n  o[0] = EPS;\n}\n";
  EXPECT_THAT(ptx(compiled(source)), HasSubstr("\"k.cu\""));
  source.prelude = "int x;\nint y = missing;";
  EXPECT_EQ(refusal(source).where().to_string(), "<prelude of k.cu>:2:9");
}

TEST_F(Compile, WarningsAreNoErrors) {
  const Compiled warned = compiled("__global__ void k(int* o) { int unused; o[0] = 1; }");
  EXPECT_THAT(warned.log, HasSubstr("k.cu:1:33: warning: variable \"unused\""));
  EXPECT_TRUE(compiled(kSaxpy).log.empty());
}

TEST_F(Compile, LinesAreAlwaysKept) {
  EXPECT_THAT(ptx(compiled(kSaxpy)), HasSubstr(".loc"));
  const fs::path path = write("sub/saxpy.cu", kSaxpy);
  EXPECT_THAT(ptx(compiled(Source::from_file(path))), HasSubstr("\"" + path.string() + "\""));
}

constexpr char kKernels[] = R"(
template <typename T> __global__ void scale(T* x) { x[threadIdx.x] *= 2; }
template <int N, bool Flag> __global__ void sized(int* x) { x[0] = N + Flag; }
namespace ns { __global__ void plain(int* x) { x[0] = 1; } }
static __global__ void internal(int* x) { x[0] = 2; }
extern "C" __global__ void c_name(int* x) { x[0] = 3; }
__device__ int helper(int x) { return x + 1; }
)";

TEST_F(Compile, EntriesAreNameExpressions) {
  const Compiled named =
      compiled(kKernels, {"scale<float>", "sized<3, true>", "ns::plain", "internal", "c_name"});
  std::vector<std::string> symbols;
  for (const auto& [expression, symbol] : named.symbols) symbols.push_back(symbol);
  EXPECT_THAT(symbols, testing::ElementsAre("_Z5scaleIfEvPT_", "_Z5sizedILi3ELb1EEvPi",
                                            "_ZN2ns5plainEPi", "_Z8internalPi", "c_name"));
  const ImageFacts facts = read_facts(named.ptx);
  for (const std::string& symbol : symbols) EXPECT_NE(facts.kernel(symbol), nullptr) << symbol;
}

TEST_F(Compile, TemplatesExistOnlyWhereTheyAreNamed) {
  const ImageFacts facts = read_facts(compiled(kKernels).ptx);
  EXPECT_EQ(facts.kernel("_Z5scaleIfEvPT_"), nullptr);
  EXPECT_NE(facts.kernel("c_name"), nullptr);
}

TEST_F(Compile, APlainNameServesWhereItIsUnique) {
  const Compiled named =
      compiled(std::string(kKernels) + "template __global__ void scale<double>(double*);",
               {"scale", "ns::plain", "plain"});
  ASSERT_EQ(named.symbols.size(), 3u);
  for (const auto& [expression, symbol] : named.symbols) {
    EXPECT_EQ(symbol, expression == "scale" ? "_Z5scaleIdEvPT_" : "_ZN2ns5plainEPi");
  }
}

TEST_F(Compile, AnUnknownEntryListsThoseThereAre) {
  const Error error = refusal(Source::from_text(kKernels, "k.cu"),
                              {.arch = "sm_90a", .entries = {"c_name", "c_nam"}});
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("k.cu has no kernel \"c_nam\"; it has: "));
  EXPECT_THAT(error.message(), HasSubstr("; did you mean \"c_name\"?"));
  EXPECT_THAT(error.message(), HasSubstr("ns::plain"));
  const Error no_args =
      refusal(Source::from_text(kKernels, "k.cu"), {.arch = "sm_90a", .entries = {"scale"}});
  EXPECT_EQ(no_args.code(), ErrorCode::kNotFound);
  EXPECT_THAT(no_args.what(), HasSubstr("name<float>"));
  const Error wrong_args = refusal(Source::from_text(kKernels, "k.cu"),
                                   {.arch = "sm_90a", .entries = {"scale<nothing>"}});
  EXPECT_EQ(wrong_args.code(), ErrorCode::kNotFound);
  EXPECT_THAT(wrong_args.what(), HasSubstr("\"nothing\" is undefined"));
  // A wrong source is a wrong source, whatever entries are asked for.
  EXPECT_EQ(
      refusal(Source::from_text("int x", "k.cu"), {.arch = "sm_90a", .entries = {"k"}}).code(),
      ErrorCode::kCompile);
}

TEST_F(Compile, RefusesOptionsAndArchitectures) {
  Source source = Source::from_text(kSaxpy, "k.cu");
  EXPECT_THAT(refusal(source, {.arch = "sm_12"}).message(), HasSubstr("90"));
  EXPECT_EQ(refusal(source, {.arch = "hopper"}).code(), ErrorCode::kInvalidInput);
  source.options = {"--no-such-option"};
  const Error error = refusal(source);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(error.what(), HasSubstr("--no-such-option"));
}

TEST_F(Compile, RelocatableAndLinkTimeCode) {
  Source source = Source::from_text(kSaxpy, "k.cu");
  source.options = {"-rdc=true"};
  EXPECT_FALSE(compiled(source).cubin);
  EXPECT_EQ(read_facts(compiled(source).ptx).kernels.size(), 1u);
  source.options = {"-dlto"};
  EXPECT_THAT(refusal(source).message(), HasSubstr("no PTX"));
}

TEST_F(Compile, BlankAndMissingSourcesAreRefused) {
  EXPECT_THROW(Source::from_text(" \n\t"), Error);
  try {
    Source::from_file("/nonexistent.cu");
    FAIL();
  } catch (const Error& missing) {
    EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  }
}

TEST_F(Compile, OptionsReachTheCompiler) {
  Source source =
      Source::from_text("__global__ void k(int* o) { o[0] = VALUE + __cplusplus / 100; }");
  source.options = {"-DVALUE=1"};
  EXPECT_THAT(ptx(compiled(source)), HasSubstr("2018"));  // C++17 is 201703
  source.options = {"-D", "VALUE=0", "--std=c++20"};
  EXPECT_THAT(ptx(compiled(source)), HasSubstr("2020"));
}

// What nvcc takes without a word.
TEST_F(Compile, TakesWhatNvccTakes) {
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
TEST_F(Compile, MathTakesIntegersAsNvccDoes) {
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

constexpr char kDevicePart[] = R"(
__device__ float random() { return 0.5f; }
__device__ int rand(unsigned state) { return state * 1103515245u + 12345u; }
__constant__ float weights[4];
template <typename T> __device__ T twice(T x) { return x + x; }
extern "C" __global__ void k(float* p, int n) {
  __shared__ float s[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x % 32] = i < n ? twice(p[i]) : weights[i % 4];
  __syncthreads();
  if (i < n) p[i] = sqrtf(s[0]) + rand(7) * random() + static_cast<float>(pow(p[i], 2.0));
}
)";

// All of the kernel's PTX but its lines of the source.
std::string kernel_text(const Compiled& compiled) {
  const std::string all(compiled.ptx.bytes());
  const std::size_t start = all.find(".entry k(");
  const std::string body = all.substr(start, all.find("\n}", start) - start);
  std::string out;
  for (const std::string_view line : split_lines(body)) {
    if (line.find(".loc") == std::string_view::npos) out += std::string(line) + "\n";
  }
  return out;
}

// Public .cu files hold kernels and the host code that launches them.
TEST_F(Compile, TakesHostCodeThatLaunchesKernels) {
  const std::string host_parts[] = {
      R"(int main() { float* d; cudaMalloc(&d, 4); k<<<1, 32>>>(d, 1); return cudaFree(d); })",
      R"(#include <stdio.h>
         #include <sys/time.h>
         static double seconds() { struct timeval t; gettimeofday(&t, NULL); return t.tv_sec + t.tv_usec * 1e-6; }
         #define CHECK(call) { cudaError_t e = (call); if (e != cudaSuccess) { \
           fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(EXIT_FAILURE); } }
         __host__ void run(int argc, char** argv) {
           int n = argc > 1 ? atoi(argv[1]) : 1 << 20;
           float* h = (float*)calloc(n, sizeof(float)); float* d = NULL;
           for (int i = 0; i < n; i++) h[i] = (float)rand() / RAND_MAX;
           CHECK(cudaMalloc((void**)&d, n * sizeof(float)));
           CHECK(cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice));
           CHECK(cudaMemcpyToSymbol(weights, h, sizeof(weights)));
           dim3 block(256), grid((n + 255) / 256);
           cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b); cudaEventRecord(a, 0);
           double start = seconds();
           k<<<grid, block, 0, 0>>>(d, n);
           float ms; cudaEventElapsedTime(&ms, a, b);
           FILE* f = fopen("out.bin", "wb"); if (!f || fwrite(h, 4, n, f) != n) perror("write"); fclose(f);
           cudaDeviceProp p; cudaGetDeviceProperties(&p, 0);
           printf("%s %d %f %f\n", p.name, p.multiProcessorCount, ms, seconds() - start); free(h); })",
      R"(#include <algorithm>
         #include <chrono>
         #include <fstream>
         #include <iomanip>
         #include <iostream>
         #include <map>
         #include <memory>
         #include <random>
         #include <string>
         #include <vector>
         using namespace std;
         std::vector<int> kept; static string name; map<string, vector<int>> table;
         float reference(const std::vector<float>& x) { float s = 0; for (float v : x) s += v; return s; }
         int main(int argc, char** argv) {
           vector<float> h(100), ones(h.size(), 1.0f), some = {1, 2, 3};
           mt19937 engine(42); uniform_real_distribution<float> uniform(-1.0f, 1.0f);
           for (auto& v : h) v = uniform(engine);
           std::sort(h.begin(), h.end(), [](float a, float b) { return a > b; });
           float* d; cudaMalloc(&d, h.size() * sizeof(float));
           cudaMemcpy(d, h.data(), h.size() * sizeof(float), cudaMemcpyHostToDevice);
           auto start = std::chrono::high_resolution_clock::now();
           k<<<(h.size() + 31) / 32, 32>>>(d, h.size());
           cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024);
           auto end = chrono::high_resolution_clock::now();
           auto us = std::chrono::duration_cast<std::chrono::microseconds>(end - start).count();
           std::chrono::duration<double> spent = end - start;
           cout << "took " << us << " us, " << setprecision(3) << spent.count() << name + "x" << endl;
           if (string(argv[1]) == "-v" || !table.count("a")) cerr << table["a"].size() << "\n";
           ifstream in("f.txt"); string line; while (getline(in, line)) kept.push_back(stoi(line));
           unique_ptr<float[]> copy(new float[10]); copy[0] = reference(h) + ones.back() + some[0];
           return cudaGetLastError() != cudaSuccess; })",
  };
  // The functions of PDL, and those of CUDA's runtime that device code may call as well.
  EXPECT_EQ(read_facts(compiled(R"(
    __global__ void k(float* p) { cudaGridDependencySynchronize(); p[0] = 1; }
    int main() {
      float* d; cudaMalloc(&d, 4); int n; cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k, 32, 0);
      cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      cudaLaunchConfig_t c = {}; c.attrs = a; c.numAttrs = 1; cudaLaunchKernelEx(&c, k, d);
      k<<<1, 1>>>(d); return cudaGetLastError(); })")
                           .ptx)
                .kernels.size(),
            1u);
  const std::string alone = kernel_text(compiled(kDevicePart));
  for (const std::string& host : host_parts) {
    for (const std::string& whole :
         {kDevicePart + host, "#include <cuda_runtime.h>\n" + (kDevicePart + host)}) {
      try {
        const Compiled made = compiled(whole);
        EXPECT_EQ(read_facts(made.ptx).kernels.size(), 1u) << host;
        EXPECT_EQ(kernel_text(made), alone) << host;
        EXPECT_THAT(ptx(made), Not(HasSubstr(".extern")));
        EXPECT_EQ(made.log, "");
      } catch (const Error& error) {
        ADD_FAILURE() << host << "\n" << error.what();
      }
    }
  }
}

// Host code may stand beside what the declarations for it say, as it may beside a system's headers.
TEST_F(Compile, ASourcesOwnNamesStandBesideTheHosts) {
  write("third/party.h", R"(
    #if !defined(__linux__) || !defined(__unix__)
    #error "this platform is not supported"
    #endif
    #include <unistd.h>
    #if _POSIX_VERSION < 200112L
    #error "no clocks here"
    #endif
    #include <strings.h>
    #include <wchar.h>
    #include <dirent.h>
    struct option { const char* name; };
    static void* err; static float times[4];
  )");
  const std::string text = R"(
    extern "C" {
    #include <fcntl.h>
    #include <party.h>
    }
    #include <stdio.h>
    #include <array>
    #include <functional>
    #include <map>
    #include <numeric>
    #include <tuple>
    #include <vector>
    #define min(a, b) ((a) < (b) ? (a) : (b))
    #define max(a, b) ((a) > (b) ? (a) : (b))
    #include <time.h>
    extern FILE* stderr;
    extern char* optarg;
    extern int optind, errno;
    extern "C" FILE* fopen(const char*, const char*);
    typedef struct _IO_FILE FILE;
    typedef unsigned int uint;
    float random(float low, float high) { return low + high; }
    __global__ void k(float* p) { p[0] = random(1, max(2, N)); }
    int main() {
      std::map<int, std::vector<float>> m; m[1].push_back(min(1, 2)); std::array<int, 2> a = {};
      timespec now; clock_gettime(CLOCK_MONOTONIC, &now);
      while (getopt(0, 0, "n:") != -1) m[optind].push_back(optarg[0] + errno);
      err = opendir("."); if (!err) fprintf(stderr, "%d\n", a[0]);
      std::string path("a"); path.replace(0, 1, "b"); std::atomic<int> n(0);
      k<<<1, 1>>>(0); return n.load(std::memory_order_relaxed) + strcasecmp("a", path.c_str()); })";
  // Single letters are the source's to define before it includes.
  std::string letters;
  for (char name = 'A'; name <= 'Z'; ++name) {
    letters += fmt::format("#define {} {}\n", name, name - 'A');
  }
  Source source = Source::from_text(letters + text, "k.cu");
  source.include = {folder_.path() / "third"};
  try {
    const Compiled made = compiled(source);
    EXPECT_EQ(read_facts(made.ptx).kernels.size(), 1u);
    EXPECT_THAT(ptx(made), Not(HasSubstr(".extern")));
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST_F(Compile, TakesHostCodeThatLaunchesNothing) {
  const std::string kernel = R"(
    __constant__ float weights[4];
    extern "C" __global__ void k(float* p) { p[0] = weights[1]; })";
  const std::string host_parts[] = {
      "void prepare(const float* w) { cudaMemcpyToSymbol(weights, w, 16); }",
      "#include <stdio.h>\nvoid say(const char* what) { fprintf(stderr, \"%s\", what); }",
      "#include <sstream>\nstd::string say(int n) { std::ostringstream s; s << n; return s.str(); "
      "}",
      "int start(float* p) { void* a[] = {&p}; return cudaLaunchKernel((void*)k, 1, 1, a, 0, 0); }",
  };
  for (const std::string& host : host_parts) {
    for (const char* arch : {"sm_90a", "compute_90"}) {
      try {
        const Source source = Source::from_text(kernel + "\n" + host, "k.cu");
        const Compiled made = compile(source, {.arch = arch, .entries = {"k"}});
        EXPECT_EQ(read_facts(made.ptx).kernels.size(), 1u) << host;
        EXPECT_THAT(ptx(made), Not(HasSubstr(".extern")));
      } catch (const Error& error) {
        ADD_FAILURE() << host << "\n" << error.what();
      }
    }
  }
  // A kernel has no use for them, and hears of what it lacks as ever.
  for (const char* arch : {"sm_90a", "compute_90"}) {
    const Source source =
        Source::from_text("__global__ void k(char* p) { p[0] = getenv(\"HOME\")[0]; }", "k.cu");
    EXPECT_THAT(refusal(source, {.arch = arch}).what(),
                HasSubstr("identifier \"getenv\" is undefined"));
  }
}

// cuBLAS, NVTX and the like have headers that NVRTC was not meant to read.
TEST_F(Compile, TakesTheHeadersOfCudasLibraries) {
  std::string text;
  for (const char* header : {"cublas_v2.h", "cublasLt.h", "nvtx3/nvToolsExt.h", "cuda.h",
                             "cuda_profiler_api.h", "cufft.h", "cusparse.h", "curand.h"}) {
    text += fmt::format("#if __has_include(<{0}>)\n#include <{0}>\n#endif\n", header);
  }
  text += R"(
    __global__ void k(float* p) { p[0] = 1; }
    int main() {
      k<<<1, 1>>>(0);
    #ifdef CUBLAS_V2_H_
      cublasHandle_t handle; float one = 1;
      if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return 1;
      cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 1, &one, 0, 1, 0, 1, &one, 0, 1);
    #endif
    })";
  try {
    EXPECT_EQ(read_facts(compiled(text).ptx).kernels.size(), 1u);
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
}

TEST_F(Compile, ErrorsAdviseWhereTheyCan) {
  const auto advice = [&](const std::string& text) {
    return std::string(refusal(Source::from_text(text, "k.cu")).what());
  };
  const std::string kernel = "__global__ void k(float* p) { p[0] = 1; }\n";
  write("inc/h.h", "#include \"nowhere.h\"\n");
  Source source = Source::from_text("#include \"h.h\"\n" + kernel, "k.cu");
  source.include = {folder_.path() / "inc"};
  source.directory = folder_.path() / "own";
  const std::string missing = refusal(source).what();
  EXPECT_THAT(missing, HasSubstr("searched for it beside the file that includes it, then in " +
                                 (folder_.path() / "inc").string() + ", " +
                                 (folder_.path() / "own").string()));
  EXPECT_THAT(advice("#include <string>\n__global__ void k() { std::string s(\"a\"); }"),
              HasSubstr("hold nothing for device code: NVRTC compiles the whole file"));
  EXPECT_THAT(advice(kernel + "float f(); float start = f();"),
              HasSubstr("a variable without a mark is compiled as a __device__ variable"));
  EXPECT_THAT(advice(kernel + "int main() { try { k<<<1, 1>>>(0); } catch (int) {} }"),
              HasSubstr("exceptions are for the host alone"));
  EXPECT_THAT(advice(kernel + "__global__ void outer(float* p) { k<<<1, 1>>>(p); }"),
              HasSubstr("that needs CUDA's device runtime"));
  EXPECT_THAT(advice("__global__ void k() { missing(); }"), Not(HasSubstr("hint:")));
}

TEST_F(Compile, TakesCooperativeGroups) {
  const Compiled made = compiled(R"(#include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    __global__ void k(int* o, int64_t n) {
      auto tile = cg::tiled_partition<32>(cg::this_thread_block());
      o[0] = tile.thread_rank() + INT_MAX; })");
  EXPECT_EQ(read_facts(made.ptx).kernels.size(), 1u);
  EXPECT_EQ(made.log, "");
}

TEST_F(Compile, QuotesAndFoldersResolveFromTheSource) {
  write("src/sibling.cuh", "#define A 1\n#include \"deep/inner.cuh\"\n");
  write("src/deep/inner.cuh", "#include \"beside.cuh\"\n");
  write("src/deep/beside.cuh", "#define B 2\n");
  write("shared/far.cuh", "#define C 3\n");
  Source source =
      Source::from_file(write("src/k.cu",
                              "#include \"sibling.cuh\"\n#include <far.cuh>\n__global__ void "
                              "k(int* o) { *o = A + B + C; }"));
  source.options = {"-I../shared"};
  EXPECT_EQ(read_facts(compiled(source).ptx).kernels.size(), 1u);
}

TEST_F(Compile, ASecondCompileIsAHit) {
  const Compiled first = compiled(kKernels, {"scale<float>"});
  const Compiled second = compiled(kKernels, {"scale<float>"});
  EXPECT_FALSE(first.cache_hit);
  EXPECT_TRUE(second.cache_hit);
  EXPECT_EQ(first.ptx.bytes(), second.ptx.bytes());
  EXPECT_EQ(first.cubin->bytes(), second.cubin->bytes());
  EXPECT_EQ(first.symbols, second.symbols);
  EXPECT_EQ(first.seconds, second.seconds);
  EXPECT_FALSE(compiled(kKernels, {"scale<double>"}).cache_hit);
  EXPECT_FALSE(compile(Source::from_text(kKernels), {.arch = "sm_80"}).cache_hit);
  EXPECT_FALSE(compile(Source::from_text(kKernels, "k.cu"),
                       {.arch = "sm_90a", .entries = {"scale<float>"}, .use_cache = false})
                   .cache_hit);
}

TEST_F(Compile, EverythingThatMattersIsInTheKey) {
  Source source = Source::from_text(kSaxpy, "k.cu");
  compiled(source);
  source.prelude = "#define X 1";
  EXPECT_FALSE(compiled(source).cache_hit);
  source.options = {"-DY"};
  EXPECT_FALSE(compiled(source).cache_hit);
  EXPECT_TRUE(compiled(source).cache_hit);
  source.text += " ";
  EXPECT_FALSE(compiled(source).cache_hit);
}

TEST_F(Compile, AChangedHeaderIsCompiledAnew) {
  write("h.cuh", "#include \"inner.cuh\"\n");
  write("inner.cuh", "#define A 11\n");
  const fs::path path = write("k.cu", "#include \"h.cuh\"\n__global__ void k(int* o) { *o = A; }");
  EXPECT_THAT(ptx(compiled(Source::from_file(path))), HasSubstr(", 11;"));
  EXPECT_TRUE(compiled(Source::from_file(path)).cache_hit);
  write("inner.cuh", "#define A 12\n");
  const Compiled changed = compiled(Source::from_file(path));
  EXPECT_FALSE(changed.cache_hit);
  EXPECT_THAT(ptx(changed), HasSubstr(", 12;"));
  // A file that comes to lie in front of the one that was found.
  write("other/inner.cuh", "#define A 13\n");
  write("other/h.cuh", "#include \"inner.cuh\"\n");
  Source source =
      Source::from_file(write("k2.cu", "#include <h.cuh>\n__global__ void k(int* o) { *o = A; }"));
  source.include = {"late", "other"};
  EXPECT_THAT(ptx(compiled(source)), HasSubstr(", 13;"));
  write("late/h.cuh", "#define A 14\n");
  EXPECT_THAT(ptx(compiled(source)), HasSubstr(", 14;"));
}

TEST_F(Compile, AHitSpeaksOfTheReadersOwnFiles) {
  const auto lay_out = [&](const std::string& where) {
    write(where + "/inc/h.cuh",
          "__device__ inline float twice(float x) { int unused; return x * 2; }\n");
    Source source = Source::from_file(
        write(where + "/k.cu",
              "#include \"h.cuh\"\n__global__ void k(float* o) { o[0] = twice(o[1]); }\n"));
    source.include = {"inc"};
    return compiled(source);
  };
  const Compiled here = lay_out("here");
  const Compiled there = lay_out("there");
  EXPECT_TRUE(there.cache_hit);
  EXPECT_THAT(ptx(there), HasSubstr((folder_.path() / "there/k.cu").string()));
  EXPECT_THAT(ptx(there), Not(HasSubstr((folder_.path() / "here").string())));
  const auto lines = compiler::line_table_files(there.cubin.value().bytes());
  EXPECT_THAT(lines, testing::Contains((folder_.path() / "there/k.cu").string()));
  EXPECT_THAT(lines, testing::Each(testing::StartsWith((folder_.path() / "there/").string())));
  EXPECT_THAT(there.log, HasSubstr((folder_.path() / "there/inc/h.cuh").string() + ":1:"));
  EXPECT_THAT(here.log, HasSubstr((folder_.path() / "here/inc/h.cuh").string() + ":1:"));
}

TEST_F(Compile, ASourceThatSeesItsOwnNameIsNotShared) {
  const char text[] = "__global__ void k(int* o) { assert(o[0]); }";
  compiled(Source::from_file(write("one/k.cu", text)));
  EXPECT_FALSE(compiled(Source::from_file(write("two/k.cu", text))).cache_hit);
  EXPECT_TRUE(compiled(Source::from_file(folder_.path() / "one/k.cu")).cache_hit);
}

TEST_F(Compile, ADamagedEntryIsCompiledAnewAndMended) {
  compiled(kSaxpy);
  const auto entries = compiler::Cache::open_default()->list();
  ASSERT_EQ(entries.size(), 1u);
  std::string bytes = read_file(entries[0].path);
  bytes[bytes.size() - 10] ^= 1;
  write_file_atomically(entries[0].path, bytes);
  EXPECT_FALSE(compiled(kSaxpy).cache_hit);
  EXPECT_TRUE(compiled(kSaxpy).cache_hit);
}

TEST_F(Compile, ThreadsCompileTheSameAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> results(4);
  for (std::string& result : results) {
    threads.emplace_back([&] { result = ptx(compiled(kSaxpy)); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, results[0]);
}

// This process has NVRTC loaded: another one, with the cache of this one, answers.
TEST_F(Compile, AHitDoesNotLoadTheCompiler) {
  constexpr char kChild[] = "BATON_TEST_HIT_CACHE";
  if (const char* cache = std::getenv(kChild)) {
    setenv("BATON_CACHE_DIR", cache, 1);
    EXPECT_TRUE(compiled(kSaxpy).cache_hit);
    EXPECT_THAT(read_file("/proc/self/maps"), Not(HasSubstr("libnvrtc")));
    return;
  }
  compiled(kSaxpy);
  EXPECT_THAT(read_file("/proc/self/maps"), HasSubstr("libnvrtc"));
  const std::string command =
      fmt::format("{}='{}' '{}' --gtest_filter=Compile.AHitDoesNotLoadTheCompiler >&2", kChild,
                  std::getenv("BATON_CACHE_DIR"), fs::read_symlink("/proc/self/exe").string());
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST_F(Compile, ACompilerThatIsMissingIsNamed) {
  setenv("BATON_NVRTC", "/nonexistent/libnvrtc.so", 1);
  const Error error = refusal(Source::from_text(kSaxpy));
  unsetenv("BATON_NVRTC");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("/nonexistent/libnvrtc.so"));
}

// Types inferred from use alone never contradict those that the mangled name gives.
TEST_F(Compile, InferenceNeverContradictsTheName) {
  const Compiled made = compiled(R"(#include <cuda_fp16.h>
    #include <cuda_bf16.h>
    struct S { int a[3]; };
    __global__ void a(char a, signed char b, unsigned char c, bool d, short e, unsigned short f, int g,
                      unsigned h, long i, unsigned long j, float k, double l, float* m, const int* n,
                      S p, half q, __nv_bfloat16 r, float4 s) {
      int x = threadIdx.x;
      if (x < g) m[x] = a + b + c + (d ? 1 : 0) + e / 2 + f / 3 + i + j + k + l + n[x] + p.a[1] +
                        __half2float(q) + __bfloat162float(r) + s.x;
      if (x < h) m[x + i] += h / 3; }
    __global__ void b(int n, int m, unsigned u, float* o) {
      for (int i = 0; i < n; ++i) o[i * m + u] = i % m; }
    __global__ void c(int n, int lo, int hi, char* o, long offset) {
      if (n >= 0 && n < 6) o[offset + n] = 1;
      o[offset] = lo > 3 ? min(lo, hi) : hi >> 2; }
    __global__ void d(unsigned n, unsigned m, int (*f)(int), int* o, unsigned long base) {
      for (unsigned i = threadIdx.x; i < n; i += m) o[i] = f(o[i] + (base >> 3)); }
    __global__ void e(short s, unsigned short t, short* o, int n) {
      o[s] = s / 2 + t / 2; o[t] = s * t; if (n < 0) o[0] = -n; else o[1] = n / 4; }
    __global__ void f(size_t n, const double* in, double* out, int stride) {
      size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
      if (i < n) out[i * stride] = in[i]; })");
  const ImageFacts named = read_facts(made.ptx);
  const std::string renamed = std::regex_replace(ptx(made), std::regex("_Z1([a-f])"), "k_$1_");
  const ImageFacts inferred = read_facts(Image::from_bytes(renamed, "renamed"));
  ASSERT_EQ(named.kernels.size(), inferred.kernels.size());
  int known = 0;
  for (std::size_t k = 0; k < named.kernels.size(); ++k) {
    const auto& truth = named.kernels[k].params.value();
    const auto& guess = inferred.kernels[k].params.value();
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const std::string where = fmt::format("{}, parameter {}", named.kernels[k].demangled, i);
      EXPECT_EQ(truth[i].size, guess[i].size) << where;
      known += guess[i].kind == truth[i].kind ? 1 : 0;
      if (guess[i].kind == ParamKind::kScalar) {
        EXPECT_EQ(truth[i].dtype, guess[i].dtype) << where;
      }
      if (guess[i].kind == ParamKind::kPointer) {
        EXPECT_EQ(truth[i].kind, ParamKind::kPointer) << where;
      }
      if (guess[i].kind == ParamKind::kInteger) {
        EXPECT_EQ(truth[i].kind, ParamKind::kScalar) << where;
      }
    }
  }
  // And it says something of most.
  EXPECT_GT(known, 24);
}

// The header for kernel authors needs no path, and does nothing where there is no PDL.
TEST_F(Compile, TheDeviceHeaderServesEveryArchitecture) {
  constexpr char kKernel[] = R"(
#include <baton/device/pdl.cuh>
#if BATON_HAS_PDL != (__CUDA_ARCH__ >= 900)
#error "BATON_HAS_PDL"
#endif
extern "C" __global__ void k(const float* __restrict__ w, const float* __restrict__ x, float* y) {
  __shared__ alignas(16) float copied[256];
  baton::device::prefetch_l2(w, 4096);
  baton::device::prefetch_shared(copied, w, sizeof copied);
  baton::device::prefetch_shared_wait();
  baton::device::pdl_wait();
  __syncthreads();
  const float value = baton::device::pdl_load(x + threadIdx.x);
  if (baton::device::has_pdl()) baton::device::pdl_trigger();
  y[threadIdx.x] = value + copied[threadIdx.x];
})";
  for (const auto& [arch, has_pdl] : {std::pair("sm_75", false),
                                      {"sm_80", false},
                                      {"sm_90", true},
                                      {"sm_90a", true},
                                      {"sm_100", true}}) {
    SCOPED_TRACE(arch);
    const Compiled made = compile(Source::from_text(kKernel, "k.cu"), {.arch = arch});
    const KernelFacts facts =
        merge_facts(read_facts(made.ptx), read_facts(made.cubin.value())).kernels.at(0);
    EXPECT_EQ(facts.waits, has_pdl);
    EXPECT_EQ(facts.triggers, has_pdl);
    EXPECT_THAT(ptx(made), HasSubstr("prefetch.global.L2"));
    EXPECT_EQ(ptx(made).find("cp.async.cg") != std::string::npos,
              std::string_view(arch) != "sm_75");
    EXPECT_THAT(ptx(made), Not(HasSubstr("ld.global.nc")));
  }
}

}  // namespace
}  // namespace baton
