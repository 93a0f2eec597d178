#include <algorithm>
#include <optional>
#include <utility>

#include "conformance/conformance.h"

namespace baton::conformance::pdl_test {
namespace {

class Pdl : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
    module_.emplace(load("pdl.cu"));
    stream_.emplace(device());
  }

  Kernel kernel(std::string_view name) const { return module_->kernel(name); }
  const Stream& stream() const { return *stream_; }

  // x -> 2x + w, ten times, each launch early.
  template <typename... More>
  void expect_chain(const Kernel& link, More... more) {
    constexpr unsigned kCount = 128 * 40;
    std::vector<float> weights(kCount), want(kCount);
    for (unsigned i = 0; i < kCount; ++i) weights[i] = static_cast<float>(i % 7);
    const auto weight = Buffer<float>::of(device(), weights);
    auto from = Buffer<float>::of(device(), want), to = Buffer<float>::of(device(), want);
    LaunchConfig config{.grid = kCount / 128, .block = 128, .stream = stream()};
    config.attributes.set(pdl());
    for (int step = 0; step < 10; ++step) {
      link.launch(config, weight, from, to, more...);
      std::swap(from, to);
      for (unsigned i = 0; i < kCount; ++i) want[i] = want[i] * 2 + weights[i];
    }
    stream().synchronize();
    EXPECT_EQ(from.download(), want);
  }

 private:
  std::optional<Module> module_;
  std::optional<Stream> stream_;
};

TEST_F(Pdl, AChainOfEarlyLaunchesIsRight) {
  expect_chain(kernel("link"), 128u * 40u);
}

TEST_F(Pdl, LoadsOfEverySizeGiveWhatIsThere) {
  struct Three {
    unsigned short a, b;
  };
  const auto one = Buffer<unsigned char>::of(device(), std::vector<unsigned char>{1, 200});
  const auto two = Buffer<Three>::of(device(), std::vector<Three>{{3, 4}, {5, 60000}});
  const auto eight = Buffer<double>::of(device(), std::vector<double>{0, -7.5});
  const auto sixteen = Buffer<float>::of(device(), std::vector<float>{1, 2, 3, 4});
  const auto out = Buffer<double>::of(device(), std::vector<double>(7));
  kernel("loads").launch({.grid = 1, .block = 1, .stream = stream()}, one, two, eight, sixteen,
                         out);
  stream().synchronize();
  EXPECT_EQ(out.download(), (std::vector<double>{200, 3, 4, 60000, -7.5, 1, 4}));
}

TEST_F(Pdl, KernelsKnowThatTheTargetHasIt) {
  const auto out = Buffer<int>::of(device(), std::vector<int>(2));
  kernel("has").launch({.grid = 1, .block = 1, .stream = stream()}, out);
  stream().synchronize();
  EXPECT_EQ(out.download(), (std::vector<int>{1, 1}));
}

}  // namespace
}  // namespace baton::conformance::pdl_test
