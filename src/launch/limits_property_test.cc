// `fits` decides at every launch in a dozen comparisons; `broken_limit` says what is wrong. They
// are two spellings of the same rules, which random configs at the limits check against each other.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <random>

#include "baton/module.h"
#include "launch/limits.h"

namespace baton::launch::limits_property_test {
namespace {

constexpr const char* kKernels = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry bounded() .maxntid 96, 2, 1 { .shared .align 4 .b8 fixed[4096]; ret; }
.visible .entry fixed_block() .reqntid 16, 4, 2 { ret; }
.visible .entry fixed_cluster() .reqnctapercluster 4, 2, 1 { ret; }
.visible .entry counted() .reqntid 32, 1, 1 .reqnctapercluster 2, 1, 1 .blocksareclusters { ret; }
)";

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }
  bool chance(unsigned one_in) { return random_() % one_in == 0; }

  Dim3 grid() {
    const auto extent = [this] {
      return one_of<std::uint32_t>({0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 65535, 65536, INT32_MAX,
                                    std::uint32_t{INT32_MAX} + 1, UINT32_MAX});
    };
    Dim3 drawn(one_of<std::uint32_t>({8, 16, 24}), 1, 1);
    if (chance(2)) drawn.x = extent();
    if (chance(3)) drawn.y = chance(2) ? extent() : 4;
    if (chance(4)) drawn.z = extent();
    return drawn;
  }

  Dim3 block() {
    if (chance(4)) return {16, 4, 2};
    const auto extent = [this] {
      return one_of<std::uint32_t>({0, 1, 2, 4, 32, 64, 65, 96, 192, 193, 1024, 1025, UINT32_MAX});
    };
    return {extent(), chance(2) ? 1 : extent(), chance(2) ? 1 : extent()};
  }

  Dim3 cluster() {
    const auto extent = [this] { return one_of<std::uint32_t>({0, 1, 2, 3, 4, 8, 16, 17}); };
    if (chance(4)) return {4, 2, 1};
    return {extent(), chance(2) ? 1 : extent(), chance(3) ? extent() : 1};
  }

  LaunchAttributes attributes() {
    LaunchAttributes drawn;
    if (chance(2)) drawn.set(baton::cluster(cluster()));
    if (chance(3)) drawn.set(preferred_cluster(cluster()));
    if (chance(4)) drawn.set(cooperative());
    if (chance(4)) drawn.set(pdl());
    if (chance(4)) drawn.set(priority(-1));
    if (chance(8)) drawn.set(nvlink_util_centric_scheduling());
    // One that is not for launches, and one that no version knows.
    if (chance(12)) drawn.set(LaunchAttribute(AttributeId::kSynchronizationPolicy, 1u));
    if (chance(12)) drawn.set(LaunchAttribute(static_cast<AttributeId>(77), 1u));
    return drawn;
  }

  LaunchConfig config(const ResolvedKernel& kernel) {
    const std::uint32_t most = kernel.max_dynamic_shared();
    return {.grid = grid(),
            .block = block(),
            .shared = one_of<std::uint32_t>({0, 0, 1, 49152, most, most + 1, UINT32_MAX}),
            .attributes = attributes()};
  }

 private:
  std::mt19937_64 random_;
};

TEST(LimitsProperty, FitsIsThatNoLimitBreaks) {
  const Device device = Device::open("sim:h200");
  const Module module = Module::load(device, Image::from_bytes(kKernels, "kernels.ptx"));
  std::vector<Kernel> kernels;
  std::vector<std::unique_ptr<KernelState>> states;
  for (const char* name : {"plain", "bounded", "fixed_block", "fixed_cluster", "counted"}) {
    kernels.push_back(module.kernel(name));
    states.push_back(std::make_unique<KernelState>(device, kernels.back().native_function(),
                                                   kernels.back().facts()));
  }
  std::vector<int> fitting(states.size()), broken(states.size());
  const bool holds = rc::check("fits is that broken_limit says nothing", [&](std::uint64_t seed) {
    Draw draw(seed);
    for (int i = 0; i < 1000; ++i) {
      const std::size_t which = static_cast<std::size_t>(i) % states.size();
      const KernelState& state = *states[which];
      const ResolvedKernel& resolved = state.at_home();
      const LaunchConfig config = draw.config(resolved);
      const std::optional<Error> limit = broken_limit(state, resolved, config);
      ++(limit ? broken : fitting)[which];
      RC_ASSERT(fits(resolved, config) == !limit);
    }
  });
  EXPECT_TRUE(holds);
  // The draw would show nothing if it only ever hit one side.
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_GT(fitting[i], 0) << i;
    EXPECT_GT(broken[i], 0) << i;
  }
}

}  // namespace
}  // namespace baton::launch::limits_property_test
