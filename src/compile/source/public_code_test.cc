// Public code relies on what nvcc and its host compiler provide. These tests compile such code.

#include "compile/compile_test.h"

namespace baton::public_code_test {
namespace {

class PublicCode : public CompileTest {
 protected:
  static std::string ptx_of(const Source& source) {
    try {
      return ptx(compiled(source));
    } catch (const Error& error) {
      ADD_FAILURE() << source.text << "\n" << error.what();
      return "";
    }
  }
  static std::string ptx_of(const std::string& text) {
    return ptx_of(Source::from_text(text, "k.cu"));
  }
};

constexpr char kPlain[] = "extern \"C\" __global__ void k(int* p) { p[0] = 1234; }\n";

// No launch shows here that there is host code.
TEST_F(PublicCode, HostFunctionsWithoutALaunch) {
  for (const char* host :
       {"unsigned long now() { return std::chrono::steady_clock::now().time_since_epoch() / "
        "std::chrono::microseconds(1); }",
        "void name(std::string text) { text.clear(); }"}) {
    EXPECT_THAT(ptx_of(std::string(kPlain) + host), HasSubstr(".entry k(")) << host;
  }
}

TEST_F(PublicCode, NamesThatOtherHeadersBringIn) {
  EXPECT_THAT(ptx_of("#include <memory>\n"
                     "template <typename... T> int count(std::tuple<T...>) { return 2; }\n"
                     "struct P { P(std::piecewise_construct_t, std::array<int, 2>) {} };\n" +
                     std::string(kPlain) + "int main() { k<<<1, 1>>>(0); }"),
              HasSubstr(".entry k("));
}

// A kernel's struct has the layout that the host gives it.
TEST_F(PublicCode, AtomicsHaveTheirSize) {
  const std::string text = ptx_of(R"(
    #include <atomic>
    struct Work { std::atomic_int* next; std::atomic<double> sum; int n; };
    extern "C" __global__ void k(int* p, Work work) { p[0] = work.n + sizeof(Work); }
    int main() { Work work; work.sum = 1.0; k<<<1, 1>>>(0, work); })");
  EXPECT_THAT(text, HasSubstr(".param .align 8 .b8 k_param_1[24]"));
  EXPECT_THAT(text, HasSubstr("[k_param_1+16]"));
}

// Headers for several compilers tell nvcc from them by its macro.
TEST_F(PublicCode, TheMacroOfNvcc) {
  EXPECT_THAT(ptx_of("#ifdef __NVCC__\n#include <cuda.h>\n#else\n#include <hip/hip_runtime.h>\n"
                     "#endif\n" +
                     std::string(kPlain)),
              HasSubstr(".entry k("));
}

TEST_F(PublicCode, HeadersWithByteOrderMarks) {
  write("inc/a.h", "\xEF\xBB\xBF#pragma once\n#include \"b.h\"\n");
  write("inc/b.h", "\xEF\xBB\xBF__device__ int b() { return 77; }\n");
  for (const char* host : {"", "int main() { try { k<<<1, 1>>>(0); } catch (...) {} }"}) {
    Source source = Source::from_text(
        "#include <a.h>\nextern \"C\" __global__ void k(int* p) { p[0] = b(); }\n" +
            std::string(host),
        "k.cu");
    source.include = {folder_.path() / "inc"};
    EXPECT_THAT(ptx_of(source), HasSubstr(", 77;"));
  }
}

// Types of Thrust in kernels, beside algorithms in host code.
TEST_F(PublicCode, TypesOfThrust) {
  EXPECT_THAT(ptx_of(R"(
    #include <thrust/complex.h>
    #include <thrust/device_vector.h>
    #include <thrust/sort.h>
    #include <thrust/tuple.h>
    extern "C" __global__ void k(thrust::complex<float>* z, thrust::tuple<int, float> t) {
      z[0] = z[1] * z[2] + thrust::get<1>(t);
    }
    int main() {
      thrust::device_vector<float> v(3);
      thrust::sort(v.begin(), v.end());
    })"),
              HasSubstr("fma.rn"));
}

TEST_F(PublicCode, StatementExpressionsInKernels) {
  constexpr char kMacros[] = R"(
    #define MIN(x, y) ({ __typeof__(x) _x = (x); \
                         __typeof__(y) _y = (y); _x < _y ? _x : _y; })
    #define LEAVE(c) if (c) return
    #define CHECKED(x) ({ LEAVE(x < 0); x; })
  )";
  EXPECT_THAT(ptx_of(std::string(kMacros) + R"(
    extern "C" __global__ void k(int* p) { p[0] = MIN(p[1], 7) + ({ int a = p[2]; a * 3; }); })"),
              HasSubstr("min.s32"));
  // Where a macro of it leaves the function, a lambda means something else.
  EXPECT_THAT(refusal(Source::from_text(std::string(kMacros) + R"(
    extern "C" __global__ void k(int* p) { p[0] = CHECKED(p[1]); })"))
                  .what(),
              HasSubstr("expected an expression"));
  // What a macro is given may leave it too.
  EXPECT_THAT(refusal(Source::from_text(R"(
    #define DO(what) ({ what; 1; })
    extern "C" __global__ void k(int* p) { p[0] = DO(if (p[1]) return); })"))
                  .what(),
              HasSubstr("expected an expression"));
  // The prelude's macros are not looked into.
  Source source = Source::from_text(
      "extern \"C\" __global__ void k(int* p) { p[0] = ({ LEAVE(p[1]); 3; }); }", "k.cu");
  source.prelude = "#define LEAVE(c) if (c) return";
  EXPECT_THAT(refusal(source).what(), HasSubstr("expected an expression"));
}

TEST_F(PublicCode, OtherNamesOfKeywords) {
  EXPECT_THAT(ptx_of(R"(
    static __device__ __const__ int seven = 7;
    template <typename T> __device__ T least(const T& a) { __typeof__(a + 1) b = a; return b; }
    extern "C" __global__ void k(int* p) { __asm__("mov.u32 %0, 1234;" : "=r"(p[0]));
                                          p[1] = least(p[2]) + seven; })"),
              HasSubstr("mov.u32 %r1, 1234"));
}

// A name that a source brings itself, beside `using namespace std`.
TEST_F(PublicCode, NamesThatStdHasToo) {
  EXPECT_THAT(ptx_of(R"(
    #include <string>
    using namespace std;
    __device__ int stack = 3;
    extern "C" __global__ void k(int* p) { p[0] = stack; }
    int main() { string name; k<<<1, 1>>>(0); })"),
              HasSubstr("[stack]"));
}

TEST_F(PublicCode, LiteralsOfMacros) {
  EXPECT_THAT(ptx_of(R"(
    #define TURN (float2){ 0, -1 }
    #define SET(x) x = TURN
    extern "C" __global__ void k(float2* p) { SET(p[0]); })"),
              HasSubstr(".entry k("));
}

// The macros hold the function literals that launch: what is launched is made all the same.
TEST_F(PublicCode, ExceptionsInMacros) {
  EXPECT_THAT(ptx_of(R"(
    #include <stdexcept>
    #define FOR_SIZE(VALUE, SIZE, ...) [&] { \
      if (VALUE == 4) { constexpr int SIZE = 4; return __VA_ARGS__(); } \
      throw std::invalid_argument("size " + std::to_string(VALUE)); }()
    #define FOR_STEP(VALUE, STEP, ...) [&] { \
      if (VALUE == 2) { constexpr int STEP = 2; return __VA_ARGS__(); } \
      throw std::invalid_argument("step"); }()
    template <int n, int m> __global__ void t(int* p) { p[0] = n * m; }
    void run(int n, int m, int* p) {
      FOR_SIZE(n, N, [&] { FOR_STEP(m, M, [&] { t<N, M><<<1, 1>>>(p); }); });
    })"),
              HasSubstr(".entry _Z1tILi4ELi2EEvPi("));
}

TEST_F(PublicCode, LambdasMarkedForTheDevice) {
  EXPECT_THAT(ptx_of(R"(
    #define DEVICE_LAMBDA __host__ __device__
    template <typename F> __global__ void each(int* p, F f) { f(p, threadIdx.x); }
    void run(int* p, int n) {
      each<<<1, 32>>>(p, [=] __device__(int* q, int i) { q[i] = 1234 * n; });
      each<<<1, 32>>>(p, [n] DEVICE_LAMBDA (int* q, int i) { q[i] = 4321 * n; });
    })"),
              testing::AllOf(HasSubstr("1234;"), HasSubstr("4321;")));
}

// What other files define and call is linked later.
TEST_F(PublicCode, RelocatableCode) {
  Source source = Source::from_text(R"(
    #include <vector>
    extern __device__ int there(int);
    __device__ int here(int i) { return i + 7; }
    __host__ __device__ int both(int i) { return i + 9; }
    extern "C" __global__ void k(int* p) { p[0] = there(p[1]); }
    void run(int n) {
      int sizes[n];
      std::vector<int> all = unknown_to_all(sizes);
      k<<<1, 1>>>(all.data());
    })",
                                    "k.cu");
  source.options = {"-rdc=true"};
  const std::string text = ptx_of(source);
  for (const char* symbol : {"_Z4herei", "_Z4bothi",
                             ".extern .func  (.param .b32 func_retval0) "
                             "_Z5therei"}) {
    EXPECT_THAT(text, HasSubstr(symbol));
  }
  EXPECT_THAT(text, Not(HasSubstr("_Z3runi")));
  EXPECT_THAT(text, Not(HasSubstr("baton_hidden")));
}

}  // namespace
}  // namespace baton::public_code_test
