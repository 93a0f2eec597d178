// A launch changes a tensor map in global memory, and the next one copies through it. The wait and
// the end of a grid order the bytes of the map; the fence of the tensor map's proxy makes the copy
// read them anew.

#include "baton/tensor_map.h"
#include "conformance/conformance.h"

namespace baton::conformance::map_change_test {
namespace {

constexpr unsigned kTile = 1024, kBlocks = 64, kMaps = 8, kSteps = 30;
constexpr unsigned kElements = kTile * kBlocks;

class ChangedTensorMap : public Conformance, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  }

  TensorMap tiles_of(const Buffer<unsigned>& buffer) const {
    TensorMapOptions options;
    options.type = TensorMapType::kU32;
    options.address = buffer.data().address;
    options.shape = {kBlocks * 4, kTile / 4};
    options.box = {4, kTile / 4};
    return TensorMap::encode(device(), options);
  }
};

// The map that a step makes live. Neighbours differ, and the order does not repeat within kMaps.
unsigned chosen(unsigned step) {
  return (step * 5 + step / kMaps) % kMaps;
}

unsigned element(unsigned map, unsigned block, unsigned i) {
  return map << 24 | block << 12 | i;
}

TEST_P(ChangedTensorMap, IsTheOneThatTheNextLaunchCopiesThrough) {
  const Module module = load("proxies.cu");
  const Kernel change = module.kernel("change_map"), read = module.kernel("read_by_changed_map");
  std::vector<Buffer<unsigned>> tensors;
  std::vector<std::byte> bytes;
  for (unsigned map = 0; map < kMaps; ++map) {
    std::vector<unsigned> elements(kElements);
    for (unsigned i = 0; i < kElements; ++i) elements[i] = element(map, i / kTile, i % kTile);
    tensors.push_back(Buffer<unsigned>::of(device(), elements));
    const TensorMap made = tiles_of(tensors.back());
    bytes.insert(bytes.end(), made.bytes(), made.bytes() + sizeof(TensorMap));
  }
  const auto maps = Buffer<std::byte>::of(device(), bytes);
  const Buffer<std::byte> live(device(), sizeof(TensorMap));
  const Buffer<unsigned> rows(device(), std::size_t{kSteps} * kElements);

  const Stream stream(device());
  LaunchConfig one{.grid = 1, .block = 32, .stream = stream};
  LaunchConfig many{.grid = kBlocks, .block = 128, .stream = stream};
  if (GetParam()) {
    one.attributes.set(pdl());
    many.attributes.set(pdl());
  }
  for (unsigned step = 0; step < kSteps; ++step) {
    change.launch(one, maps, chosen(step), live);
    read.launch(many, live, step, true, rows);
  }
  stream.synchronize();

  const std::vector<unsigned> got = rows.download();
  for (unsigned step = 0; step < kSteps; ++step) {
    unsigned wrong = 0;
    for (unsigned i = 0; i < kElements; ++i) {
      const unsigned from = (i / kTile + 7) % kBlocks;
      if (got[step * kElements + i] != element(chosen(step), from, i % kTile)) ++wrong;
    }
    EXPECT_EQ(wrong, 0U) << "of step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Chains, ChangedTensorMap, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "early" : "full");
});

}  // namespace
}  // namespace baton::conformance::map_change_test
