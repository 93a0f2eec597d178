#include "sim/engine/async/hardware_map.h"

#include <gtest/gtest.h>

#include <cstring>

namespace baton::sim::hardware_map_test {
namespace {

// As CuTe DSL 4.8.1 wrote it for a tensor of f16 of 128 by 256 by 1, in boxes of 64 by 128 with a
// swizzle of 128 bytes.
TensorMapBytes written() {
  const std::uint64_t words[16] = {0x0000100000010000, 0x0000001000046322,
                                   0x0000000000001000, 0,
                                   255ull << 32 | 127, 0,
                                   0x3f00000000000000, 127};
  TensorMapBytes bytes;
  std::memcpy(bytes.data(), words, sizeof words);
  return bytes;
}

TensorMapBytes changed(std::size_t byte, unsigned char bits) {
  TensorMapBytes bytes = written();
  bytes[byte] ^= std::byte{bits};
  return bytes;
}

TEST(HardwareMap, IsReadAsHostCodeWritesIt) {
  const std::optional<TileMap> map = unpack_tensor_map(written());
  ASSERT_TRUE(map);
  EXPECT_EQ(map->address, 0x100000010000u);
  EXPECT_EQ(map->rank, 3);
  EXPECT_EQ(map->type, TensorType::kF16);
  EXPECT_EQ(map->swizzle_bits, 3);
  EXPECT_EQ(map->extents, (TileMap::List<std::uint64_t>{128, 256, 1, 1, 1}));
  EXPECT_EQ(map->strides, (TileMap::List<std::uint64_t>{2, 256, 65536, 0, 0}));
  EXPECT_EQ(map->box, (TileMap::List<std::uint16_t>{64, 128, 1, 1, 1}));
  EXPECT_EQ(flaw_of(*map), "");
}

TEST(HardwareMap, LargeStridesHaveTheirUpperBitsApart) {
  TensorMapBytes bytes = written();
  bytes[28] = std::byte{0x21};  // of half 7: dimension 1, then dimension 2
  const std::optional<TileMap> map = unpack_tensor_map(bytes);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->strides[1], (std::uint64_t{1} << 36) + 256);
  EXPECT_EQ(map->strides[2], (std::uint64_t{2} << 36) + 65536);
}

TEST(HardwareMap, BytesWithBitsThatNobodyKnowsAreNone) {
  EXPECT_FALSE(unpack_tensor_map(TensorMapBytes{}));
  EXPECT_FALSE(unpack_tensor_map(changed(8, 1)));      // the kind of map
  EXPECT_FALSE(unpack_tensor_map(changed(9, 0x08)));   // interleaved
  EXPECT_FALSE(unpack_tensor_map(changed(8, 0x50)));   // eight dimensions
  EXPECT_FALSE(unpack_tensor_map(changed(52, 1)));     // element strides
  EXPECT_FALSE(unpack_tensor_map(changed(7, 0x80)));   // no address
  EXPECT_TRUE(unpack_tensor_map(changed(10, 0x20)));   // a large tensor
  EXPECT_TRUE(unpack_tensor_map(changed(100, 0xff)));  // after the map
}

}  // namespace
}  // namespace baton::sim::hardware_map_test
