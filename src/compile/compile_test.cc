#include "baton/compile.h"

#include <fmt/core.h>

#include "compile/compile_test.h"

namespace baton::compile_test {
namespace {

class Compile : public CompileTest {};

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

TEST_F(Compile, WarningsOfAHeaderAreFolded) {
  std::string header;
  for (int i = 0; i < 5; ++i) header += fmt::format("__device__ void f{0}() {{ int x{0}; }}\n", i);
  write("inc/h.h", header);
  write("inc/one.h", "__device__ void g() { int y; }\n");
  Source source = Source::from_text(
      "#include \"h.h\"\n#include \"one.h\"\n__global__ void k() { int a; int b; }", "k.cu");
  source.include = {folder_.path() / "inc"};
  const std::string log = compiled(source).log;
  for (const char* said : {"variable \"a\"", "variable \"b\"", "variable \"x0\"", "variable \"y\"",
                           "and 4 more warnings in this header"}) {
    EXPECT_THAT(log, HasSubstr(said));
  }
  for (const char* folded : {"variable \"x1\"", "variable \"x4\"", "and 0 more"}) {
    EXPECT_THAT(log, Not(HasSubstr(folded)));
  }
}

// A file of templates alone would give nothing to run.
TEST_F(Compile, TemplatesAloneAreNamed) {
  const Error one = refusal(Source::from_text(
      "template <typename T> __global__ void __launch_bounds__(128) norm(T* p) { p[0] = 1; }",
      "k.cu"));
  EXPECT_EQ(one.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(one.message(), HasSubstr("norm is a template"));
  EXPECT_THAT(one.message(), HasSubstr("name an entry, as 'norm<float>'"));
  const Error two =
      refusal(Source::from_text("namespace n { template <int i> __global__ void a(int* p) {} }\n"
                                "template <typename T> __global__ void b(T* p) {}\n"
                                "template <typename T> __device__ void c(T* p) {}",
                                "k.cu"));
  EXPECT_THAT(two.message(), HasSubstr("n::a, b are each a template"));
  EXPECT_THAT(two.message(), HasSubstr("as 'n::a<4>'"));
  for (const auto& [parameters, example] :
       {std::pair("int RADIUS, typename T", "k<4, float>"),
        std::pair("bool kExact, class... Ts", "k<true, float>"),
        std::pair("unsigned N, template <typename> class C, int M = 3", "k<4, C>"),
        std::pair("typename T = float", "k<>")}) {
    const std::string text =
        fmt::format("template <{}> __global__ void k(int* p) {{}}", parameters);
    EXPECT_THAT(refusal(Source::from_text(text, "k.cu")).message(),
                HasSubstr(fmt::format("as '{}'", example)));
  }
  EXPECT_TRUE(read_facts(compiled("__device__ int x;").ptx).kernels.empty());
  // Whatever the text looks like, the compiler decides.
  EXPECT_TRUE(read_facts(compiled("#define DROP(...)\nDROP(template <typename T> __global__ void "
                                  "k(T* p) {})\n__device__ int x;")
                             .ptx)
                  .kernels.empty());
}

TEST_F(Compile, NotesNameFilesAsTheUserDoes) {
  const Error error = refusal(Source::from_text(
      "__global__ void k(int n, int* p) {\n  int a[n];\n  p[0] = a[0];\n}", "k.cu"));
  EXPECT_THAT(error.what(), HasSubstr("the value of parameter \"n\""));
  EXPECT_EQ(std::string(error.what()).find('\x01'), std::string::npos);
}

TEST_F(Compile, LinesAreAlwaysKept) {
  EXPECT_THAT(ptx(compiled(kSaxpy)), HasSubstr(".loc"));
  const fs::path path = write("sub/saxpy.cu", kSaxpy);
  EXPECT_THAT(ptx(compiled(Source::from_file(path))), HasSubstr("\"" + path.string() + "\""));
}

TEST_F(Compile, RefusesOptionsAndArchitectures) {
  Source source = Source::from_text(kSaxpy, "k.cu");
  EXPECT_THAT(refusal(source, {.arch = "sm_12"}).message(), HasSubstr("90"));
  EXPECT_EQ(refusal(source, {.arch = "hopper"}).code(), ErrorCode::kInvalidInput);
  source.options = {"--no-such-option"};
  const Error error = refusal(source);
  EXPECT_EQ(error.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(error.what(), HasSubstr("--no-such-option"));
  source.options = {"--extended-lambda"};
  EXPECT_THAT(refusal(source).what(), HasSubstr("has no mode for lambdas with __device__"));
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

// NVRTC would read no further than the first NUL.
TEST_F(Compile, WhatIsNoTextIsRefused) {
  const std::string text("__global__ void k() {}\n\0__global__ void z() {}", 46);
  const Error error = refusal(Source::from_text(text, "k.cu"));
  EXPECT_EQ(error.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(error.message(), HasSubstr("byte 23 of k.cu is NUL"));
  EXPECT_EQ(error.where().line, 2);
  Source source = Source::from_text(kSaxpy, "k.cu");
  source.prelude = std::string("\0", 1);
  EXPECT_THAT(refusal(source).message(), HasSubstr("<prelude of k.cu> is NUL"));
}

TEST_F(Compile, OptionsReachTheCompiler) {
  Source source =
      Source::from_text("__global__ void k(int* o) { o[0] = VALUE + __cplusplus / 100; }");
  source.options = {"-DVALUE=1"};
  EXPECT_THAT(ptx(compiled(source)), HasSubstr("2018"));  // C++17 is 201703
  source.options = {"-D", "VALUE=0", "--std=c++20"};
  EXPECT_THAT(ptx(compiled(source)), HasSubstr("2020"));
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
  EXPECT_THAT(
      missing,
      HasSubstr("searched for it in the folder of the file that includes it, then in " +
                (folder_.path() / "inc").string() + ", " + (folder_.path() / "own").string()));
  EXPECT_THAT(advice("#include <string>\n__global__ void k() { std::string s(\"a\"); }"),
              HasSubstr("contain nothing for device code: NVRTC compiles the whole file"));
  EXPECT_THAT(advice(kernel + "float f(); float start = f();"),
              HasSubstr("a variable without a mark is compiled as a __device__ variable"));
  EXPECT_THAT(advice(kernel + "__device__ void f() { try { } catch (int) {} }"),
              HasSubstr("exceptions exist on the host only"));
  EXPECT_THAT(advice(kernel + "__global__ void outer(float* p) { k<<<1, 1>>>(p); }"),
              HasSubstr("that needs CUDA's device runtime"));
  EXPECT_THAT(advice("__global__ void k() { missing(); }"), Not(HasSubstr("hint:")));
  const fs::path marked = write("inc/marked.h", "\xEF\xBB\xBF#define A 1\n");
  source.text = "#include \"" + marked.string() + "\"\n" + kernel;
  EXPECT_THAT(refusal(source).what(), HasSubstr("that begin with a byte order mark; save without "
                                                "one: " +
                                                (folder_.path() / "inc/marked.h").string()));
  EXPECT_THAT(advice("__global__ void k() { \x80; }"), Not(HasSubstr("hint:")));
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

// CUTLASS names CUDA's headers by the folder that has them from CUDA 13 on.
TEST_F(Compile, CudasHeadersByTheirOtherNames) {
  const Compiled made = compiled(R"(
    #include <cstdint>
    #include <cccl/cuda/std/cstdint>
    #include <cccl/cuda/std/climits>
    __global__ void k(std::uint64_t* p) { *p = ULONG_MAX; })");
  EXPECT_NE(read_facts(made).kernel("_Z1kPm"), nullptr);
}

TEST_F(Compile, ACompilerThatIsMissingIsNamed) {
  setenv("BATON_NVRTC", "/nonexistent/libnvrtc.so", 1);
  const Error error = refusal(Source::from_text(kSaxpy));
  unsetenv("BATON_NVRTC");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_THAT(error.what(), HasSubstr("/nonexistent/libnvrtc.so"));
}

}  // namespace
}  // namespace baton::compile_test
