// What images that were compiled say of their kernels.

#include <fmt/core.h>

#include <algorithm>
#include <regex>

#include "compile/compile_test.h"
#include "compile/param_names.h"

namespace baton {
namespace {

class CompiledFacts : public CompileTest {};

// Types inferred from use alone never contradict those that the mangled name gives.
TEST_F(CompiledFacts, InferenceNeverContradictsTheName) {
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

// Each kind of type that a field of a struct may have.
constexpr char kStructs[] = R"(
#include <cuda_fp16.h>
struct Base { short order; };
struct Span { const float* first; long count; };
struct P : Base {
  Span spans[2];
  union { int i; float f; } either;
  __half half;
  float table[17];
  bool* flags;
};
template <typename T> __global__ void k(T* out, P p, int) { *out = p.order + p.spans[1].count; }
)";

TEST_F(CompiledFacts, ParametersHaveNamesWhereTheyAreAskedFor) {
  const Source source = Source::from_text(kStructs, "k.cu");
  CompileOptions options = {.arch = "sm_90a", .entries = {"k<double>"}};
  const auto names = [&] {
    std::vector<std::string> found;
    for (const ParamFacts& param :
         read_facts(compile(source, options)).kernels.at(0).params.value()) {
      found.push_back(param.name);
    }
    return found;
  };
  using testing::ElementsAre;
  EXPECT_THAT(names(), ElementsAre("", "", ""));
  options.param_names = true;
  EXPECT_THAT(names(), ElementsAre("out", "p", ""));
  EXPECT_THAT(names(), ElementsAre("out", "p", ""));  // from the cache
  // What does not compile with debug information has none.
  options.entries = {};
  const Source strict = Source::from_text(std::string("#ifdef __CUDACC_DEBUG__\n#error \"no -G\"\n"
                                                      "#endif\n") +
                                              kSaxpy,
                                          "saxpy.cu");
  EXPECT_EQ(read_facts(compile(strict, options)).kernels.at(0).params.value()[3].name, "");
}

// Each kind of type that a parameter may have.
constexpr char kTypes[] = R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
struct S { int a; float* p; };
struct Small { float x; };
template <typename T> struct V { T x; };
namespace ns { enum class E : int { a }; }
typedef float real;
KERNEL(const bool* b, const char* c, signed char* sc, unsigned char* uc, short* s, unsigned short* us,
       int* i, unsigned* u, long* l, size_t* z, long long* ll, unsigned long long* ull, float* f,
       real* r, const real* const q, const double* __restrict__ d, __half* h, const __nv_bfloat16* bf,
       __nv_fp8_e4m3* f8, __half2* h2, const float4* f4, void* v, const void* cv, float** pp,
       const float* const* cpp, const volatile int* vol, int& ref, const int& cref, S* sp,
       const V<float>* vp, ns::E* ep, int (*fn)(int), float (*rows)[3], bool vb, char vc, unsigned vu,
       size_t vz, const float vf, __half vh, float4 v4, S vs, Small small, ns::E ve) {
  *f = vf + vu + *i + small.x;
})";

// What the debug information says is what a mangled name would.
TEST_F(CompiledFacts, TypesOfParametersAreKnownWithoutAMangledName) {
  const auto facts = [](std::string_view kernel, bool param_names) {
    const std::string text = fmt::format("#define KERNEL {}\n{}", kernel, kTypes);
    const CompileOptions options = {.arch = "sm_90a", .param_names = param_names};
    return read_facts(compile(Source::from_text(text, "k.cu"), options)).kernels.at(0);
  };
  const auto mangled = facts("__global__ void k", false).params.value();
  const auto plain = facts("extern \"C\" __global__ void k", false).params.value();
  const auto found = facts("extern \"C\" __global__ void k", true).params.value();
  ASSERT_EQ(found.size(), mangled.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const ParamFacts& want = mangled[i];
    EXPECT_NE(plain[i].dtype.has_value() && plain[i].kind == ParamKind::kPointer, true);
    EXPECT_EQ(std::tie(found[i].kind, found[i].dtype, found[i].read_only, found[i].size),
              std::tie(want.kind, want.dtype, want.read_only, want.size))
        << found[i].name << ": " << want.type;
    // Types around a declarator have no simple text.
    if (want.type.find("(*)") == std::string::npos) {
      EXPECT_EQ(found[i].type, want.type) << found[i].name;
    }
  }
}

// An instance that only host code launches is one that the compiler leaves out with -G.
TEST_F(CompiledFacts, InstancesOfHostCodeHaveNamesToo) {
  const Source source = Source::from_text(R"(#include <cstdio>
template <typename T, int N> __global__ void k(T* out, int rows) { out[threadIdx.x] = rows * N; }
int main() {
  k<float, 4><<<1, 32>>>(nullptr, 1);
  printf("done");
})",
                                          "k.cu");
  const CompileOptions options = {.arch = "sm_90a", .param_names = true};
  EXPECT_EQ(read_facts(compile(source, options)).kernels.at(0).params.value()[1].name, "rows");
}

// Their entries are not known before the source is compiled, as the other compile begins.
TEST_F(CompiledFacts, InstancesOfTheSourceHaveNamesToo) {
  const Source source = Source::from_text(R"(
template <typename T> __global__ void k(T* out, int rows) { out[threadIdx.x] = rows; }
template __global__ void k<float>(float*, int);
extern "C" __global__ void plain(int* out) { *out = 1; })",
                                          "k.cu");
  const Compiled made = compiler::compile_described(source, {.arch = "sm_90a"},
                                                    compiler::DescribedKernels::kWithoutTypes);
  for (const KernelFacts& kernel : read_facts(made).kernels) {
    EXPECT_EQ(kernel.params.value()[0].name, "out") << kernel.name;
  }
}

// Two compiles that run side by side end with the error of the source.
TEST_F(CompiledFacts, AnErrorOfTheSourceComesOut) {
  const Source source =
      Source::from_text("extern \"C\" __global__ void k(int* x) { *x = y; }", "k.cu");
  EXPECT_THAT(refusal(source, {.arch = "sm_90a", .param_names = true}).message(),
              HasSubstr("identifier \"y\" is undefined"));
}

// They are facts of the images, which bundles and modules take from there.
TEST_F(CompiledFacts, TypesAreFactsOfEachImage) {
  const Compiled made =
      compile(Source::from_text(kSaxpy, "saxpy.cu"), {.arch = "sm_90a", .param_names = true});
  for (const Image& image : {made.ptx, made.cubin.value()}) {
    const ParamFacts param = read_facts(image).kernels.at(0).params.value()[1];
    EXPECT_EQ(param.type + " " + param.name, "float const* x") << to_string(image.kind());
    EXPECT_EQ(param.dtype, DType::kF32);
    EXPECT_TRUE(param.read_only);
  }
}

TEST_F(CompiledFacts, FieldsOfStructsAreInTheOrderOfTheirBytes) {
  const Source source = Source::from_text(kStructs, "k.cu");
  const CompileOptions options = {.arch = "sm_90a", .entries = {"k<double>"}};
  const auto params = compiler::debug_params(source, options, compile(source, options));
  const auto kernel =
      std::ranges::find_if(params, [](const auto& each) { return each.second.size() == 3; });
  ASSERT_NE(kernel, params.end());
  std::vector<std::string> fields;
  for (const image::DebugField& field : kernel->second[1].fields) {
    fields.push_back(fmt::format("{} {}+{} {}", field.name, field.offset, field.size,
                                 field.is_pointer ? "*"
                                 : field.dtype    ? to_string(*field.dtype)
                                                  : "bytes"));
  }
  EXPECT_THAT(fields, testing::ElementsAre("order 0+2 i16", "spans[0].first 8+8 *",
                                           "spans[0].count 16+8 i64", "spans[1].first 24+8 *",
                                           "spans[1].count 32+8 i64", "either 40+4 bytes",
                                           "half 44+2 f16", "table 48+68 bytes", "flags 120+8 *"));
}

// The header for kernel authors needs no path, and does nothing where there is no PDL.
TEST_F(CompiledFacts, TheDeviceHeaderServesEveryArchitecture) {
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
