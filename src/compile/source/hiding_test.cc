// Sources whose host code NVRTC cannot read: it is hidden from NVRTC, and the kernels compile.

#include <fmt/core.h>

#include "compile/compile_test.h"

namespace baton::hiding_test {
namespace {

class Hiding : public CompileTest {
 protected:
  // The symbols of the kernels of a source that must compile.
  static std::vector<std::string> kernels_of(const Source& source,
                                             const CompileOptions& options = {.arch = "sm_90a"}) {
    try {
      const Compiled made = compile(source, options);
      EXPECT_EQ(made.log, "") << source.text;
      EXPECT_THAT(ptx(made), Not(HasSubstr("baton_hidden")));
      std::vector<std::string> names;
      for (const KernelFacts& kernel : read_facts(made.ptx).kernels) names.push_back(kernel.name);
      return names;
    } catch (const Error& error) {
      ADD_FAILURE() << source.text << "\n" << error.what();
      return {};
    }
  }
  static std::vector<std::string> kernels_of(const std::string& text) {
    return kernels_of(Source::from_text(text, "k.cu"));
  }
};

using Names = std::vector<std::string>;

constexpr char kKernel[] = R"(
#include <stdio.h>
#include <string>
#include <vector>
struct V { float x; V(float y) { x = y; } ~V(); };
__constant__ float weights[4];
extern "C" __global__ void k(float* p, int n) { p[n] = weights[n % 4]; }
)";

TEST_F(Hiding, HostCodeOfEveryKind) {
  const std::string host_parts[] = {
      "int main(int argc, char** argv) { try { k<<<1, 1>>>(0, 1); } catch (const std::exception& "
      "e) "
      "{ fprintf(stderr, \"%s\", e.what()); return 1; } catch (...) { throw; } }",
      "void check(int e) { if (e) throw std::runtime_error(\"bad\" + std::to_string(e)); }\n"
      "int main() { check(cudaGetLastError()); k<<<1, 1>>>(0, 1); }",
      "void run(int n) { float h[n][4]; h[0][0] = n; k<<<1, 1>>>(h[0], n); }",
      "static V g(1.f), other = V(2);\nint main() { k<<<1, 1>>>(&g.x, (int)other.x); }",
      "std::vector<V> table = {V(1), V(2)};\nint main() { table.clear(); k<<<1, 1>>>(0, 1); }",
      "void run() { static std::string name(\"x\" + std::to_string(3)); k<<<1, 1>>>(0, "
      "name.size()); }",
      "#include <filesystem>\nbool there(const std::filesystem::path& p) { return "
      "std::filesystem::exists(p); }\nint main(int, char** v) { there(v[1]); k<<<1, 1>>>(0, 1); }",
      "#include <thrust/host_vector.h>\n#include <thrust/sort.h>\nvoid run(float* p) { "
      "thrust::host_vector<float> h(4); thrust::sort(h.begin(), h.end()); k<<<1, 1>>>(p, 1); }",
      "#include <a/header/that/is/read.h>\nint main() { parse(load(3)); k<<<1, 1>>>(0, 1); }",
      "struct Timer { double start; Timer() { start = tick(); } double tick() { return "
      "std::chrono::steady_clock::unknown_clock(); } };\nint main() { Timer t; k<<<1, 1>>>(0, 1); "
      "}",
      "template <typename T> void run(T n) { T h[n]; try { k<<<1, 1>>>(h, n); } catch (int) {} }\n"
      "int main() { run(3); }",
      "__host__ int main() { return __builtin_popcount_unknown(3); }",
  };
  write("a/header/that/is/read.h",
        "#pragma once\n#include \"below.h\"\ninline void parse(Loaded l) { try { l.n = "
        "strtoq_unknown(0); } catch (...) { } }\n");
  write(
      "a/header/that/is/below.h",
      "#pragma once\nstruct Loaded { int n; };\nLoaded load(int n) { int a[n]; return {a[0]}; }\n");
  for (const std::string& host : host_parts) {
    Source source = Source::from_text(kKernel + host, "k.cu");
    source.include = {folder_.path()};
    EXPECT_EQ(kernels_of(source), Names{"k"}) << host;
  }
}

// What nvcc takes with a warning, or as its host compiler's extension.
TEST_F(Hiding, ExtensionsInDeviceCode) {
  EXPECT_EQ(
      kernels_of("extern \"C\" __global__ void k(int* p) { register int x = p[1]; p[0] = x; }"),
      Names{"k"});
  EXPECT_EQ(kernels_of("extern \"C\" __global__ void k(float2* p) { p[0] = (float2){p[1].y, 2}; }"),
            Names{"k"});
}

// Host code that can be read is read: what it launches is instantiated.
TEST_F(Hiding, LaunchesStillInstantiateTemplates) {
  const std::string text = R"(
    #include <vector>
    template <typename T> __global__ void t(T* p) { p[0] = 1; }
    template <typename T> void run(T* p) { t<T><<<1, 1>>>(p); }
    int main() {
      try {
        std::vector<float> h(3); int n = unknown_to_all(); int a[n];
        float* p; cudaMalloc(&p, 4); run(p);
        t<<<1, 1>>>((double*)p);
      } catch (const std::exception& e) { return 1; }
    })";
  EXPECT_THAT(kernels_of(text), testing::UnorderedElementsAre("_Z1tIfEvPT_", "_Z1tIdEvPT_"));
}

// Files of one name, and one file of several names.
TEST_F(Hiding, HeadersAreFoundAsTheyWere) {
  write("inc/one.h", "#pragma once\ninline int one(int n) { int a[n]; return a[0]; }\n");
  write("inc/two.h", "#include \"../inc/one.h\"\n#include \"one.h\"\n#define TWO 2\n");
  write("x/name.h", "#define X 3\n");
  write("y/name.h", "#define Y 4\n");
  write("x/x.h", "#include \"name.h\"\n");
  write("y/y.h", "#include \"name.h\"\n");
  const fs::path path = write("k.cu", R"(
    #include "inc/two.h"
    #include "x/x.h"
    #include "y/y.h"
    extern "C" __global__ void k(int* p) { p[0] = TWO * 100 + X * 10 + Y; }
    int main() { k<<<1, 1>>>(0); return one(2); })");
  EXPECT_EQ(kernels_of(Source::from_file(path)), Names{"k"});
  EXPECT_THAT(ptx(compiled(Source::from_file(path))), HasSubstr(", 234;"));
}

TEST_F(Hiding, LinesStayWhereTheyAre) {
  const Compiled made = compiled(
      "#include <string>\nvoid f(int n) { int a[n];\n  std::string s; }\nint main() { f(2);\n}\n"
      "extern \"C\" __global__ void k(int* p) {\n  p[0] = 1;\n}\n");
  EXPECT_THAT(ptx(made), HasSubstr(".loc\t1 7 "));
}

// What a kernel needs is never left out: the errors are those of the source.
TEST_F(Hiding, WhatAKernelNeedsIsNotHidden) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"int helper(int n) { int a[n]; a[0] = n; return a[0]; }\n"
       "__global__ void k(int* p) { p[0] = helper(p[1]); }",
       "expression must have a constant value"},
      {"__host__ __device__ int helper(int n) { if (n < 0) throw n; return n; }\n"
       "__global__ void k(int* p) { p[0] = helper(p[1]); }",
       "device code does not support exception handling"},
      {"int helper(int n) { try { return n; } catch (...) { return 0; } }\n"
       "__global__ void k(int* p) { p[0] = helper(p[1]); }",
       "device code does not support exception handling"},
      {"struct V { int x; V(int y) { x = y; } };\nV g(1);\n__global__ void k(int* p) { p[0] = g.x; "
       "}",
       "dynamic initialization is not supported"},
      {"struct P { unknown_type h; int n; };\n__global__ void k(P p, int* o) { o[0] = p.n; }",
       "identifier \"unknown_type\" is undefined"},
      {"struct B { virtual int f(int n) { int a[n]; return a[0]; } };\n"
       "__global__ void k(int* p) { B b; B* q = &b; p[0] = q->f(p[1]); }",
       "expression must have a constant value"},
      {"__global__ void k(int* p) { int a[p[0]]; a[0] = 1; }\nvoid f(int n) { int a[n]; }",
       "expression must have a constant value"},
  };
  for (const auto& each : cases) {
    for (const char* arch : {"sm_90a", "compute_90"}) {
      const Error error = refusal(Source::from_text(each.text, "k.cu"), {.arch = arch});
      EXPECT_EQ(error.code(), ErrorCode::kCompile) << each.text;
      EXPECT_THAT(error.what(), HasSubstr(each.error)) << each.text;
      EXPECT_THAT(error.what(), Not(HasSubstr("baton_hidden"))) << each.text;
    }
  }
}

// Where device code is wrong too, that is what the error is about.
TEST_F(Hiding, ErrorsInDeviceCodeAreSaidAlone) {
  const Error error = refusal(Source::from_text(
      "void f(int n) { int a[n]; try { a[0] = 1; } catch (...) { } }\n"
      "__global__ void k(int* p) { p[0] = missing; }\nint main() { f(1); k<<<1, 1>>>(0); }",
      "k.cu"));
  EXPECT_THAT(error.what(), HasSubstr("identifier \"missing\" is undefined"));
  EXPECT_THAT(error.what(), Not(HasSubstr("exception handling")));
  EXPECT_THAT(error.what(), Not(HasSubstr("errors")));
  EXPECT_EQ(error.where().line, 2);
}

// -G keeps functions that nothing calls.
TEST_F(Hiding, HostCodeUnderADebugger) {
  Source source = Source::from_text(kKernel + std::string(R"(
    template <typename T> __global__ void t(T* p) { p[0] = 1; }
    static int parse(const char* text) { return atoi(text); }
    int count(char** argv) { return parse(argv[1]); }
    void run(int n) { int a[n]; t<<<1, 1>>>((float*)0); }
    int main(int argc, char** argv) {
      std::vector<float> h(count(argv)); float* d; cudaMalloc(&d, h.size()); run(argc);
      k<<<1, 1>>>(d, 1); fprintf(stderr, "%s", cudaGetErrorString(cudaGetLastError())); })"),
                                    "k.cu");
  source.options = {"-G"};
  EXPECT_THAT(kernels_of(source), testing::UnorderedElementsAre("k", "_Z1tIfEvPT_"));
}

TEST_F(Hiding, EntriesAreFoundInWhatIsLeft) {
  const std::string text = kKernel + std::string(
                                         "template <typename T> __global__ void t(T* p) {}\n"
                                         "int main(int n, char**) { int a[n]; throw 1; }");
  const Compiled made = compiled(text, {"t<float>", "k"});
  ASSERT_EQ(made.symbols.size(), 2u);
  EXPECT_EQ(made.symbols[0].second, "_Z1tIfEvPT_");
}

TEST_F(Hiding, CubsBlocksComeWithItsMainHeader) {
  EXPECT_EQ(kernels_of(R"(
    #include <cub/cub.cuh>
    extern "C" __global__ void k(int* p) {
      using Sum = cub::BlockReduce<int, 128>;
      __shared__ typename Sum::TempStorage room;
      p[0] = Sum(room).Sum(p[threadIdx.x]);
    }
    int main() {
      size_t bytes = 0; int* d = 0;
      cub::DeviceReduce::Sum(nullptr, bytes, d, d, 10);
      k<<<1, 128>>>(d);
    })"),
            Names{"k"});
}

}  // namespace
}  // namespace baton::hiding_test
