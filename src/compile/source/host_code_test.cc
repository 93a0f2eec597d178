// Sources that hold the host program beside its kernels.

#include <fmt/core.h>

#include "base/text/text.h"
#include "compile/compile_test.h"

namespace baton::host_code_test {
namespace {

class HostCode : public CompileTest {};

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
TEST_F(HostCode, TakesHostCodeThatLaunchesKernels) {
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
TEST_F(HostCode, ASourcesOwnNamesStandBesideTheHosts) {
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

TEST_F(HostCode, TakesHostCodeThatLaunchesNothing) {
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
  // A kernel does not take them, and gets the message about what it lacks.
  for (const char* arch : {"sm_90a", "compute_90"}) {
    const Source source =
        Source::from_text("__global__ void k(char* p) { p[0] = getenv(\"HOME\")[0]; }", "k.cu");
    EXPECT_THAT(refusal(source, {.arch = arch}).what(),
                HasSubstr("identifier \"getenv\" is undefined"));
  }
}

// cuBLAS, NVTX and the like have headers that NVRTC was not meant to read.
TEST_F(HostCode, TakesTheHeadersOfCudasLibraries) {
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

}  // namespace
}  // namespace baton::host_code_test
