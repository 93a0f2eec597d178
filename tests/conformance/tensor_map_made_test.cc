// Tensor maps that kernels make by tensormap.replace and tensormap.cp_fenceproxy: copies by them
// are those by the driver's map of the same tensor.

#include "conformance/tensor_map_model.h"

namespace baton::conformance::tensor_map_made_test {
namespace {

// As the kernel declares it.
struct Description {
  std::uint64_t address = 0;
  std::uint64_t strides[4] = {};
  std::uint32_t extents[5] = {};
  std::uint32_t box[5] = {};
  std::uint32_t steps[5] = {};
  std::uint32_t rank = 0;
  std::uint32_t type = 0, swizzle = 0, fill = 0;
};

// The numbers of PTX, which are not the driver's.
std::uint32_t ptx_number(TensorMapType type) {
  switch (type) {
    case TensorMapType::kF64:
      return 9;
    case TensorMapType::kBF16:
      return 10;
    default:
      return static_cast<std::uint32_t>(type);
  }
}

class MadeTensorMaps : public TensorMaps {
 protected:
  static Description described(const Model& model) {
    Description d;
    d.rank = static_cast<std::uint32_t>(model.rank());
    d.type = ptx_number(model.options.type);
    d.swizzle = static_cast<std::uint32_t>(model.options.swizzle);
    for (std::size_t k = 0; k < model.rank(); ++k) {
      const std::size_t outer = model.rank() - 1 - k;
      d.extents[k] = static_cast<std::uint32_t>(model.options.shape[outer]);
      d.box[k] = static_cast<std::uint32_t>(model.options.box[outer]);
      d.steps[k] = static_cast<std::uint32_t>(model.step(outer));
      if (k > 0) {
        d.strides[k - 1] = static_cast<std::uint64_t>(model.stride(outer)) * model.size();
      }
    }
    return d;
  }

  void expect_made(Model box, const Coordinates& wanted, bool from_zeros) const {
    constexpr unsigned kBlocks = 2;
    constexpr int kStep = 1;
    Coordinates at = aligned(box, wanted);
    const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
    Description d = described(box);
    d.address = memory.memory().address();
    // Of another shape, type and place.
    Model other = model({7, 40}, {4, 32}, TensorMapType::kU16, TensorMapSwizzle::k64B);
    const auto elsewhere = Buffer<std::uint8_t>::of(device(), other.memory);
    const Buffer<TensorMap> maps(device(), kBlocks);
    const auto bytes = static_cast<unsigned>(box.tile_bytes());
    const Buffer<std::uint8_t> out(device(), kBlocks * bytes);
    kernel("load_by_made_map")
        .launch(config(bytes, kBlocks), encode(other, elsewhere), d, from_zeros, maps, out, bytes,
                at, kStep);
    const Bytes got = out.download();
    for (unsigned block = 0; block < kBlocks; ++block) {
      Bytes want = box.tile(at);
      at.at[box.rank() - 1] += kStep;
      EXPECT_TRUE(std::equal(want.begin(), want.end(), got.begin() + block * bytes))
          << "block " << block << ", type " << to_string(box.options.type) << ", swizzle "
          << to_string(box.options.swizzle) << ", rank " << box.rank() << ", from zeros "
          << from_zeros;
    }
  }
};

TEST_F(MadeTensorMaps, OfEveryRank) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {100}, {9, 20}, {5, 6, 12}, {3, 4, 5, 8}, {3, 2, 3, 4, 8}};
  const std::vector<std::vector<std::int64_t>> boxes = {
      {64}, {8, 16}, {3, 4, 8}, {2, 3, 4, 4}, {2, 2, 2, 3, 4}};
  for (std::size_t k = 1; k < shapes.size(); ++k) {
    const Model each = model(shapes[k], boxes[k], TensorMapType::kU32);
    for (const bool from_zeros : {false, true}) {
      expect_made(each, {}, from_zeros);
      expect_made(each, {{4, 1, 1, 1, 1}}, from_zeros);
      expect_made(each, {{-4, -1, 0, 1, 0}}, from_zeros);
    }
  }
}

TEST_F(MadeTensorMaps, OfEveryTypeAndSwizzle) {
  for (const TensorMapType type :
       {TensorMapType::kU8, TensorMapType::kU16, TensorMapType::kU32, TensorMapType::kI32,
        TensorMapType::kU64, TensorMapType::kI64, TensorMapType::kF16, TensorMapType::kF32,
        TensorMapType::kF64, TensorMapType::kBF16}) {
    for (const TensorMapSwizzle swizzle : {TensorMapSwizzle::kNone, TensorMapSwizzle::k32B,
                                           TensorMapSwizzle::k64B, TensorMapSwizzle::k128B}) {
      const auto span = std::int64_t{16} << static_cast<unsigned>(swizzle);
      const std::int64_t columns = span / static_cast<std::int64_t>(size_of(type));
      Model each = model({40, 2 * columns}, {32, columns}, type, swizzle);
      // No NaN: whether those keep their bits is not looked at here.
      for (std::uint8_t& byte : each.memory) byte &= 0x3f;
      expect_made(each, {{0, 3}}, true);
    }
  }
}

TEST_F(MadeTensorMaps, OfTensorsWithGaps) {
  Model each = model({20, 32}, {8, 16}, TensorMapType::kF16);
  each.options.shape = {16, 20};
  each.options.strides = {32, 1};
  each.options.element_strides = {3, 1};
  for (std::uint8_t& byte : each.memory) byte &= 0x3f;
  expect_made(each, {{8, 2}}, false);
  expect_made(each, {{8, 2}}, true);
}

}  // namespace
}  // namespace baton::conformance::tensor_map_made_test
