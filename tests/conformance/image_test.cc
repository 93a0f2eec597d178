#include <cmath>
#include <cstring>

#include "conformance/conformance.h"

namespace baton::conformance::image_test {
namespace {

class Images : public Conformance {
 protected:
  static Image image(std::string_view file) { return Image::from_file(kernel_path(file)); }

  void expect_saxpy(const Module& module) {
    constexpr int kCount = 1000;
    std::vector<float> x(kCount), y(kCount);
    for (int i = 0; i < kCount; ++i) x[i] = static_cast<float>(i), y[i] = 1;
    const auto out = Buffer<float>::of(device(), y);
    module.kernel("saxpy").launch({.grid = 4, .block = 256}, out, Buffer<float>::of(device(), x),
                                  3.0f, kCount);
    const auto got = out.download();
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(got[i], 3.0f * i + 1);
  }
};

TEST_F(Images, PtxLoads) {
  const Module module = load_image("prebuilt.ptx");
  EXPECT_EQ(module.facts().kernels.size(), 3u);
  expect_saxpy(module);
  EXPECT_EQ(module.global("calls").second, 4u);
}

TEST_F(Images, TheBestOfSeveralLoads) {
  // Some device runs the first, some the second; every one compiles the third.
  const Image images[] = {image("prebuilt_sm_80.cubin"), image("prebuilt_sm_90.cubin"),
                          image("prebuilt.ptx")};
  expect_saxpy(Module::load(device(), images));
}

TEST_F(Images, MachineCodeOfAnotherArchitectureIsRefusedByName) {
  if (device().architecture() / 10 == 8) GTEST_SKIP() << "this device runs code for sm_80";
  expect_error(ErrorCode::kInvalidInput,
               {"prebuilt_sm_80.cubin", device().spec(), device().compile_arch()},
               [&] { Module::load(device(), image("prebuilt_sm_80.cubin")); });
}

TEST_F(Images, AKernelKeepsItsModule) {
  const Buffer<int> values = Buffer<int>::of(device(), std::vector<int>{1, 2, 3});
  const Kernel scale = load_image("prebuilt.ptx").kernel("shapes::scale<int>");
  scale.launch({.block = 32, .shared = 128}, values, 7, 3u);
  EXPECT_EQ(values.download(), (std::vector<int>{7, 14, 21}));
}

TEST_F(Images, KernelsAreFoundByEveryNameTheyHave) {
  const Module module = load_image("prebuilt.ptx");
  const Kernel symbol = module.kernel("_ZN6shapes5scaleIdEEvPT_S1_j");
  const Kernel demangled = module.kernel("shapes::scale<double>");
  EXPECT_EQ(symbol.native(), demangled.native());
  EXPECT_EQ(symbol.facts().params->size(), 3u);
  expect_error(ErrorCode::kNotFound, {"saxpi", "saxpy"}, [&] { module.kernel("saxpi"); });
  expect_error(ErrorCode::kInvalidInput, {}, [&] { module.kernel("scale"); });
  EXPECT_THROW(module.kernel(), Error);
}

// As the Triton compiler makes them: two parameters of its own after those of the source, shared
// memory that the launch gives, PTX for one architecture.
TEST_F(Images, OfTritonRun) {
  if (device().compile_arch() != "sm_90a") GTEST_SKIP() << "the PTX is for sm_90a";
  constexpr int kCount = 1000;
  std::vector<float> x(kCount), y(kCount);
  for (int i = 0; i < kCount; ++i) x[i] = static_cast<float>(i % 37), y[i] = 0.5f;
  const auto in = Buffer<float>::of(device(), x);
  const Buffer<float> out(device(), kCount);
  const Kernel add = load_image("triton_add.ptx").kernel();
  EXPECT_EQ(add.facts().required_block, (std::array<std::uint32_t, 3>{128, 1, 1}));
  add.launch({.grid = 4, .block = 128}, in, Buffer<float>::of(device(), y), out, kCount, nullptr,
             nullptr);
  const auto sum = out.download();
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(sum[i], x[i] + 0.5f);
  expect_error(ErrorCode::kInvalidInput, {"triton_add", "6 arguments", "4 were given"},
               [&] { add.launch({.grid = 4, .block = 128}, in, in, out, kCount); });

  constexpr int kColumns = 500;
  load_image("triton_softmax.ptx")
      .kernel()
      .launch({.grid = 2, .block = 128, .shared = 16}, in, out, kColumns, nullptr, nullptr);
  const auto got = out.download();
  for (int row = 0; row < 2; ++row) {
    double total = 0;
    for (int c = 0; c < kColumns; ++c) total += std::exp(double{x[row * kColumns + c]} - 36);
    for (int c = 0; c < kColumns; ++c) {
      const int i = row * kColumns + c;
      EXPECT_NEAR(got[i], std::exp(double{x[i]} - 36) / total, 1e-6) << i;
    }
  }
}

TEST_F(Images, BrokenPtxIsRefusedWithTheReason) {
  const std::string good(image("prebuilt.ptx").bytes());
  std::string bad = good;
  const std::size_t at = bad.find("fma.rn.f32");
  ASSERT_NE(at, std::string::npos);
  bad.replace(at, 10, "fma.rn.f3?");
  expect_error(ErrorCode::kInvalidInput, {"broken.ptx"}, [&] {
    const Module module = Module::load(device(), Image::from_bytes(bad, "broken.ptx"));
    const Buffer<float> values(device(), 1);
    module.kernel("saxpy").launch({}, values, values, 1.0f, 1);
  });
}

TEST_F(Images, TheDriverAndTheImageAgreeOnParameters) {
  const Module module = load("arguments.cu");
  for (const KernelFacts& facts : module.facts().kernels) {
    ASSERT_TRUE(facts.params.has_value()) << facts.name;
    std::vector<ArgumentType> types;
    for (const ParamFacts& param : *facts.params) types.push_back({param.size, false, {}});
    EXPECT_NO_THROW(module.kernel(facts.name).check(types)) << facts.name;
  }
}

}  // namespace
}  // namespace baton::conformance::image_test
