#include "baton/link.h"

#include "compile/compile_test.h"
#include "compile/link/device_linker.h"
#include "compile/make_result.h"
#include "compile/nvrtc/toolkit.h"

namespace baton::link_test {
namespace {

constexpr const char* kCaller = R"(
extern "C" __device__ float scale(float x);
extern __device__ float table[4];
static __device__ int helper(int x) { return x + 1; }
template <typename T> __global__ void first(T* y) { y[threadIdx.x] = scale(y[helper(0)]) + table[1]; }
template __global__ void first<float>(float*);
)";
constexpr const char* kCallee = R"(
__device__ float table[4] = {1, 2, 3, 4};
static __device__ int helper(int x) { return x + 2; }
extern "C" __device__ float scale(float x) { return 2 * x + helper(1); }
__global__ void second(float* y) { y[0] = scale(y[helper(0)]); }
)";

constexpr const char* kPlain = "extern \"C\" __global__ void plain(int* x) { x[0] = 1; }";

class LinkTest : public CompileTest {
 protected:
  static Linked linked(const std::vector<LinkInput>& inputs, const std::string& arch = "sm_90a",
                       std::vector<std::string> entries = {}) {
    return link(inputs, {.arch = arch, .entries = std::move(entries), .use_cache = true});
  }
  static Error refusal(const std::vector<LinkInput>& inputs, const std::string& arch = "sm_90a") {
    try {
      linked(inputs, arch);
    } catch (const Error& error) {
      return error;
    }
    return Error(ErrorCode::kInternal, "it links");
  }
  // A source that is called so, with options.
  static Source source(const std::string& name, const std::string& text,
                       std::vector<std::string> options = {}) {
    Source out = Source::from_text(text, name);
    out.options = std::move(options);
    return out;
  }
  static std::vector<LinkInput> both(const std::vector<std::string>& options = {}) {
    return {source("a.cu", kCaller, options), source("b.cu", kCallee, options)};
  }
  static std::vector<std::string> kernels(const Image& image) {
    std::vector<std::string> names;
    for (const KernelFacts& kernel : read_facts(image).kernels) names.push_back(kernel.demangled);
    std::sort(names.begin(), names.end());
    return names;
  }
  static Image ptx_of(const Source& source) {
    Source relocatable = source;
    relocatable.options.push_back("-rdc=true");
    return compile(relocatable, {.arch = "sm_90a"}).ptx;
  }
  // Machine code for a link.
  static Image relocatable(const Source& source) {
    const CompileOptions options = {.arch = "sm_90a"};
    const compiler::Request request = compiler::make_request(source, options, true);
    const compiler::PathTable paths(request);
    return Image::from_bytes(compiler::obtain_result(request, paths).result.cubin, "c.cubin");
  }
  static void skip_without_linker() {
    if (!compiler::find_toolkit().nvjitlink) GTEST_SKIP() << "there is no nvJitLink";
  }
};

TEST_F(LinkTest, LinksSources) {
  const Linked result = linked(both());
  ASSERT_TRUE(result.ptx);
  EXPECT_EQ(result.ptx->name(), "the PTX of a.cu + b.cu");
  EXPECT_THAT(kernels(*result.ptx), testing::ElementsAre("first<float>(float*)", "second(float*)"));
  skip_without_linker();
  ASSERT_TRUE(result.cubin);
  EXPECT_EQ(kernels(*result.cubin), kernels(*result.ptx));
  EXPECT_TRUE(read_facts(*result.cubin).linked.value());
}

TEST_F(LinkTest, MakesPtxThatAssembles) {
  skip_without_linker();
  std::string why;
  const Linked result = linked(both({"-lineinfo"}));
  EXPECT_TRUE(compiler::assemble(*result.ptx, "sm_90a", &why)) << why << result.ptx->bytes();
}

TEST_F(LinkTest, OptimisesSourcesTogether) {
  skip_without_linker();
  const Linked result = linked(both({"-dlto"}));
  ASSERT_TRUE(result.ptx);
  ASSERT_TRUE(result.cubin);
  EXPECT_EQ(kernels(*result.cubin), kernels(*result.ptx));
  // The call across files is inlined.
  EXPECT_THAT(std::string(result.ptx->bytes()), Not(HasSubstr("call")));
  EXPECT_THAT(std::string(linked(both()).ptx->bytes()), HasSubstr("call"));
  const Linked virtual_only = linked(both({"-dlto"}), "compute_90");
  EXPECT_TRUE(virtual_only.ptx);
  EXPECT_FALSE(virtual_only.cubin);
}

TEST_F(LinkTest, TakesFastMathIntoTheJointOptimisation) {
  skip_without_linker();
  const std::string divides =
      "extern \"C\" __device__ float f(float, float);"
      "__global__ void k(float* y) { y[0] = f(y[1], y[2]); }";
  const std::string divide = "extern \"C\" __device__ float f(float a, float b) { return a / b; }";
  const auto ptx = [&](const std::vector<std::string>& options) {
    const Linked result =
        linked({source("a.cu", divides, options), source("b.cu", divide, options)});
    return std::string(result.ptx->bytes());
  };
  EXPECT_THAT(ptx({"-dlto"}), HasSubstr("div.rn.f32"));
  EXPECT_THAT(ptx({"-dlto", "-use_fast_math"}), HasSubstr("div.approx.ftz.f32"));
  EXPECT_THAT(ptx({"-dlto", "--ftz=true"}), HasSubstr("div.rn.ftz.f32"));
}

TEST_F(LinkTest, LinksImages) {
  const Source callee = source("b.cu", kCallee);
  const Linked result = linked({source("a.cu", kCaller), ptx_of(callee)});
  ASSERT_TRUE(result.ptx);
  EXPECT_EQ(kernels(*result.ptx).size(), 2u);
  skip_without_linker();
  ASSERT_TRUE(result.cubin);
  EXPECT_EQ(kernels(*result.cubin), kernels(*result.ptx));
}

TEST_F(LinkTest, HasNoPtxOfMachineCode) {
  skip_without_linker();
  const Image cubin = relocatable(source("c.cu", kPlain));
  const Linked result = linked({source("a.cu", kCaller), source("b.cu", kCallee), cubin});
  EXPECT_FALSE(result.ptx);
  ASSERT_TRUE(result.cubin);
  EXPECT_THAT(kernels(*result.cubin), testing::Contains("plain"));
  const Error refused = refusal({source("a.cu", kCallee), cubin}, "compute_90");
  EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
  EXPECT_EQ(refused.message(),
            "compute_90 is PTX alone, and c.cubin has none to link; choose an "
            "architecture with machine code, such as sm_90");
}

TEST_F(LinkTest, RefusesMachineCodeThatIsLinkedAlready) {
  const Image cubin = *compile(source("c.cu", kPlain), {.arch = "sm_90a"}).cubin;
  EXPECT_EQ(refusal({source("a.cu", kCallee), cubin}).message(),
            "the cubin of c.cu is linked already; compile machine code for a link with -rdc=true "
            "(nvcc -dc)");
}

TEST_F(LinkTest, NamesTheFileAndTheSymbol) {
  const Error missing = refusal({source("a.cu", kCaller)});
  EXPECT_EQ(missing.code(), ErrorCode::kCompile);
  EXPECT_THAT(missing.message(), HasSubstr("a.cu uses "));
  EXPECT_THAT(missing.message(), HasSubstr("which none of the linked files defines"));
  const Error twice = refusal({source("a.cu", kCallee), source("b.cu", kCallee)});
  EXPECT_EQ(twice.code(), ErrorCode::kCompile);
  EXPECT_THAT(twice.message(), HasSubstr("b.cu defines "));
  EXPECT_THAT(twice.message(), HasSubstr("and so does a.cu"));
  EXPECT_EQ(refusal({}).message(), "there is nothing to link");
}

TEST_F(LinkTest, NamesTheSymbolWhereMachineCodeOrLtoIsLinked) {
  skip_without_linker();
  EXPECT_THAT(refusal({source("a.cu", kCaller, {"-dlto"})}).message(), HasSubstr("a.cu uses "));
  const Image cubin = relocatable(source("c.cu", kPlain));
  const Error refused = refusal({source("a.cu", kCaller), cubin});
  EXPECT_EQ(refused.code(), ErrorCode::kCompile);
  EXPECT_THAT(refused.message(), HasSubstr("a.cu + c.cubin does not link: "));
  EXPECT_THAT(refused.message(), HasSubstr("Undefined reference to 'scale' in 'a.cu'"));
}

TEST_F(LinkTest, TakesEntriesOfAnyOfTheSources) {
  const std::string templates = "template <typename T> __global__ void t(T* x) { x[0] = 1; }";
  const Linked result = linked({source("a.cu", templates), source("b.cu", kCallee)}, "sm_90a",
                               {"t<double>", "second"});
  EXPECT_THAT(kernels(*result.ptx), testing::ElementsAre("second(float*)", "t<double>(double*)"));
  EXPECT_EQ(result.symbols.size(), 2u);
}

TEST_F(LinkTest, WorksWithoutTheLinkerWhereThereIsPtx) {
  setenv("BATON_NVJITLINK", "/nonexistent/libnvJitLink.so", 1);
  const Linked result = linked(both());
  const Error refused = refusal(both({"-dlto"}));
  unsetenv("BATON_NVJITLINK");
  EXPECT_TRUE(result.ptx);
  EXPECT_FALSE(result.cubin);
  EXPECT_EQ(refused.code(), ErrorCode::kNotFound);
  EXPECT_THAT(refused.message(), HasSubstr("nvJitLink is not installed"));
}

TEST_F(LinkTest, CachesByAllThatDecidesTheResult) {
  const auto is_hit = [&](const std::vector<LinkInput>& inputs,
                          const std::string& arch = "sm_90a") {
    return linked(inputs, arch).cache_hit;
  };
  EXPECT_FALSE(is_hit(both()));
  EXPECT_TRUE(is_hit(both()));
  EXPECT_FALSE(is_hit(both({"-DX=1"})));
  EXPECT_FALSE(is_hit(both(), "sm_90"));
  std::vector<LinkInput> turned = both();
  std::swap(turned[0], turned[1]);
  EXPECT_FALSE(is_hit(turned));
  const Image ptx = ptx_of(source("b.cu", kCallee));
  EXPECT_FALSE(is_hit({source("a.cu", kCaller), ptx}));
  EXPECT_TRUE(is_hit({source("a.cu", kCaller), ptx}));
  std::string other(ptx.bytes());
  other += "// other\n";
  EXPECT_FALSE(is_hit({source("a.cu", kCaller), Image::from_bytes(other, ptx.name())}));
}

TEST_F(LinkTest, CachesByIncludedFiles) {
  const fs::path file =
      write("a.cu", "#include \"h.h\"\nextern \"C\" __global__ void k(int* x) { *x = N; }");
  write("h.h", "#define N 1\n");
  const std::vector<LinkInput> inputs = {read_link_input(file), source("b.cu", kCallee)};
  EXPECT_FALSE(linked(inputs).cache_hit);
  EXPECT_TRUE(linked(inputs).cache_hit);
  write("h.h", "#define N 2\n");
  EXPECT_FALSE(linked(inputs).cache_hit);
}

TEST_F(LinkTest, ReadsFilesByTheirBytes) {
  const Image ptx = ptx_of(source("b.cu", kCallee));
  EXPECT_TRUE(std::holds_alternative<Image>(read_link_input(write("b.txt", ptx.bytes()))));
  EXPECT_TRUE(std::holds_alternative<Source>(read_link_input(write("b.cu", kCallee))));
  EXPECT_THROW(read_link_input(write("b.ptx", kCallee)), Error);
  EXPECT_THROW(read_link_input(write("b.o",
                                     "\x7f"
                                     "ELF is of another machine")),
               Error);
  EXPECT_THROW(read_link_input(write("empty.cu", "")), Error);
  EXPECT_THROW(read_link_input(folder_.path() / "none.cu"), Error);
}

}  // namespace
}  // namespace baton::link_test
