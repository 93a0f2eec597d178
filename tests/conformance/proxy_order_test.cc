// The wait and the end of a grid order the accesses of both proxies: what a launch wrote plainly is
// there for the asynchronous copies of the next one, and the other way round. No kernel has a proxy
// fence for global memory.

#include <utility>

#include "baton/tensor_map.h"
#include "conformance/conformance.h"

namespace baton::conformance::proxy_order_test {
namespace {

constexpr unsigned kTile = 1024, kBlocks = 64, kLaunches = 60;

struct Link {
  const char* name;
  const char* second;  // of every other launch
  bool early;
};

class ProxyOrder : public Conformance, public testing::WithParamInterface<Link> {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  }

  void launch(const Kernel& kernel, const LaunchConfig& config, const Buffer<unsigned>& from,
              const Buffer<unsigned>& to) const {
    if (kernel.name() != "map_reads") {
      kernel.launch(config, from, to);
      return;
    }
    TensorMapOptions options;
    options.type = TensorMapType::kU32;
    options.address = from.data().address;
    options.shape = {kBlocks * 4, kTile / 4};
    options.box = {4, kTile / 4};
    kernel.launch(config, TensorMap::encode(device(), options), to);
  }
};

TEST_P(ProxyOrder, OfOneLaunchAfterAnother) {
  const Module module = load("proxies.cu");
  const Kernel kernels[] = {module.kernel(GetParam().name), module.kernel(GetParam().second)};
  const Stream stream(device());
  LaunchConfig config{.grid = kBlocks, .block = 128, .stream = stream};
  if (GetParam().early) config.attributes.set(pdl());
  std::vector<unsigned> want(kTile * kBlocks);
  for (unsigned i = 0; i < want.size(); ++i) want[i] = i * 31;
  auto from = Buffer<unsigned>::of(device(), want), to = Buffer<unsigned>::of(device(), want);
  for (unsigned step = 0; step < kLaunches; ++step) {
    launch(kernels[step % 2], config, from, to);
    std::swap(from, to);
  }
  stream.synchronize();
  std::vector<unsigned> moved(want.size());
  for (unsigned i = 0; i < want.size(); ++i) {
    const unsigned source = (i / kTile + 7 * kLaunches) % kBlocks * kTile + i % kTile;
    moved[i] = want[source] + kLaunches;
  }
  EXPECT_EQ(from.download(), moved);
}

INSTANTIATE_TEST_SUITE_P(
    Chains, ProxyOrder,
    testing::Values(Link{"bulk_reads", "bulk_reads", true}, Link{"bulk_reads", "bulk_reads", false},
                    Link{"bulk_writes", "bulk_writes", true},
                    Link{"bulk_writes", "bulk_writes", false},
                    Link{"bulk_writes", "bulk_reads", true},
                    Link{"bulk_writes", "bulk_reads", false}, Link{"map_reads", "map_reads", true},
                    Link{"map_reads", "map_reads", false}, Link{"bulk_writes", "map_reads", true},
                    Link{"bulk_writes", "map_reads", false}),
    [](const auto& test) {
      return std::string(test.param.name) + "_" + test.param.second +
             (test.param.early ? "_early" : "_full");
    });

}  // namespace
}  // namespace baton::conformance::proxy_order_test
