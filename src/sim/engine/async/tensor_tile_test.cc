// The order of a tile in shared memory, and what of the tensor it has.

#include "sim/engine/async/tensor_tile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/engine/async/tile_maps.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::tensor_tile_test {
namespace {

using Words = std::vector<std::uint32_t>;

TensorTile loaded(const TileMap& map, const std::vector<std::int32_t>& coordinates) {
  return make_tile(map, coordinates, TileEnd::kElement);
}

TEST(TensorTile, KeepsWhatAMapHolds) {
  TileMap map = matrix(0x1000'0000'1000);
  map.swizzle_bits = 3;
  map.fills_nan = 1;
  const std::optional<TileMap> again = unpack_tensor_map(pack(map));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->address, map.address);
  EXPECT_EQ(again->extents, map.extents);
  EXPECT_EQ(again->strides, map.strides);
  EXPECT_EQ(again->box, map.box);
  EXPECT_EQ(again->element_strides, map.element_strides);
  EXPECT_EQ(again->rank, 2);
  EXPECT_EQ(again->type, TensorType::kU32);
  EXPECT_EQ(again->swizzle_bits, 3);
  EXPECT_EQ(again->fills_nan, 1);
  EXPECT_FALSE(unpack_tensor_map(TensorMapBytes{}).has_value());
  TensorMapBytes other = pack(map);
  other[9] = std::byte{7};
  EXPECT_FALSE(unpack_tensor_map(other).has_value());
  map.rank = 6;
  EXPECT_FALSE(unpack_tensor_map(pack(map)).has_value()) << "overwritten";
}

// Swizzle<b, 4, 3> of CUTLASS over byte offsets: bits 7 on are exclusive-ored into bits 4 on.
TEST(TensorTile, SwizzlesAsCutlassDescribesIt) {
  for (const std::uint8_t bits : {0, 1, 2, 3}) {
    TensorTile tile;
    tile.swizzle_bits = bits;
    std::set<std::uint32_t> places;
    for (std::uint32_t at = 0; at < 2048; at += 16) {
      const std::uint32_t mask = ((1u << bits) - 1) << 7;
      EXPECT_EQ(swizzled(tile, 0, at), at ^ ((at & mask) >> 3)) << int{bits} << " " << at;
      EXPECT_EQ(swizzled(tile, 0x400, at), swizzled(tile, 0, at)) << "all repeat after 1024 bytes";
      EXPECT_EQ(swizzled(tile, 0x180, at) + 0x180, swizzled(tile, 0, at + 0x180));
      places.insert(swizzled(tile, 0, at));
    }
    EXPECT_EQ(places.size(), 128u);
    EXPECT_EQ(*places.rbegin(), 2048u - 16);
  }
}

TEST(TensorTile, HasRunsForWhatLiesInside) {
  const TensorTile whole = loaded(matrix(0x1000), std::vector<std::int32_t>{8, 2});
  EXPECT_EQ(whole.bytes(), 512u);
  ASSERT_EQ(whole.runs.size(), 4u);
  EXPECT_EQ(whole.runs[1].address, 0x1000u + 3 * 256 + 32);
  EXPECT_EQ(whole.runs[1].at, 128u);
  EXPECT_EQ(whole.runs[1].bytes, 128u);

  const TensorTile corner = loaded(matrix(0x1000), std::vector<std::int32_t>{-30, -3});
  ASSERT_EQ(corner.runs.size(), 1u);
  EXPECT_EQ(corner.runs[0].address, 0x1000u);
  EXPECT_EQ(corner.runs[0].at, 3 * 128u + 30 * 4);
  EXPECT_EQ(corner.runs[0].bytes, 8u);

  EXPECT_TRUE(loaded(matrix(0), std::vector<std::int32_t>{64, 0}).runs.empty());
  EXPECT_TRUE(loaded(matrix(0), std::vector<std::int32_t>{INT32_MIN, INT32_MIN}).runs.empty());
  EXPECT_TRUE(loaded(matrix(0), std::vector<std::int32_t>{INT32_MAX, INT32_MAX}).runs.empty());

  TileMap stepped = matrix(0x1000);
  stepped.element_strides[1] = 3;
  const TensorTile tile = loaded(stepped, std::vector<std::int32_t>{0, 6});
  EXPECT_EQ(tile.bytes(), 256u) << "rows 6 and 9";
  EXPECT_EQ(tile.runs.size(), 1u);
}

TEST(TensorTile, GivesNarrowRowsAWholeSpan) {
  TileMap narrow = matrix(0x1000);
  narrow.box = {8, 4, 1, 1, 1};  // 32 bytes
  EXPECT_EQ(tile_extent(narrow), 128u);
  narrow.swizzle_bits = 3;
  EXPECT_EQ(tile_extent(narrow), 512u);
  const TensorTile tile = loaded(narrow, {0, 2});
  EXPECT_EQ(tile.bytes(), 128u) << "what the mbarrier counts";
  EXPECT_EQ(tile.extent(), 512u);
  ASSERT_EQ(tile.runs.size(), 4u);
  EXPECT_EQ(tile.runs[3].at, 3 * 128u);
  EXPECT_EQ(tile.runs[3].bytes, 32u);
}

TEST(TensorTile, StoresWholeChunks) {
  TileMap ragged = matrix(0x1000);
  ragged.extents[0] = 61;
  const std::vector<std::int32_t> end = {32, 6}, inside = {0, 6};
  EXPECT_EQ(make_tile(ragged, end, TileEnd::kElement).runs[1].bytes, 29 * 4u);
  EXPECT_EQ(make_tile(ragged, end, TileEnd::kChunk).runs[1].bytes, 32 * 4u);
  EXPECT_EQ(make_tile(ragged, inside, TileEnd::kChunk).runs[1].bytes, 32 * 4u);
  ragged.extents[0] = 60;
  EXPECT_EQ(make_tile(ragged, end, TileEnd::kChunk).runs[1].bytes, 28 * 4u);
}

TEST(TensorTile, ConvertsFloatsOnTheWay) {
  const auto converted = [](TensorType type, std::uint32_t bits) {
    std::byte bytes[4];
    std::memcpy(bytes, &bits, 4);
    convert_loaded(type, bytes);
    std::memcpy(&bits, bytes, 4);
    return bits;
  };
  EXPECT_EQ(converted(TensorType::kF32, 0x8000'0001), 0x8000'0001u);
  EXPECT_EQ(converted(TensorType::kU32, 0x8000'0001), 0x8000'0001u);
  EXPECT_EQ(converted(TensorType::kF32Ftz, 0x8000'0001), 0x8000'0001u);  // as an H200 does
  EXPECT_EQ(converted(TensorType::kTF32, 0x3f80'0fff), 0x3f80'0000u);
  EXPECT_EQ(converted(TensorType::kTF32, 0x3f80'1000), 0x3f80'2000u);
  EXPECT_EQ(converted(TensorType::kTF32, 0x7f7f'ffff), 0x7f80'0000u);
  EXPECT_EQ(converted(TensorType::kTF32, 0xff80'0000), 0xff80'0000u);
  EXPECT_EQ(converted(TensorType::kTF32Ftz, 0x0000'ffff), 0u);
}

TEST(UnfoldedTile, KeepsCorners) {
  TileMap map = matrix(0x1000);
  const int lower[] = {-16, 7, 15}, upper[] = {3, -1, -16};
  map.rank = 5;
  ASSERT_TRUE(map.set_unfolding(1024, lower, upper));
  const std::optional<TileMap> again = unpack_tensor_map(pack(map));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->pixels(), 1024u);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(again->lower_corner(k + 1), lower[k]);
    EXPECT_EQ(again->upper_corner(k + 1), upper[k]);
  }
  const int large[] = {16, 0, 0};
  EXPECT_FALSE(map.set_unfolding(1, large, upper));
  EXPECT_FALSE(map.set_unfolding(1, lower, large));
  map.rank = 3;
  const int least[] = {-32768};
  ASSERT_TRUE(map.set_unfolding(1, least, upper));
  EXPECT_EQ(map.lower_corner(1), -32768);
}

// Against the definition of a convolution: output pixel (q, p) and filter (s, r) read (q + s - 1,
// p + r - 1), from any output pixel on.
TEST(UnfoldedTile, WalksThroughTheImages) {
  TileMap map = matrix(0x1'0000);
  unfold(map);
  ASSERT_EQ(flaw_of(map), "");
  for (const std::int64_t first : {0, 7, 19, 100}) {
    for (std::uint16_t r = 0; r < 3; ++r) {
      for (std::uint16_t s = 0; s < 3; ++s) {
        const auto place = [&](std::int64_t output, std::int64_t* w, std::int64_t* h) {
          *w = output % kWidth - 1;
          *h = output / kWidth % kHeight - 1;
          return output / (kWidth * kHeight);
        };
        std::int64_t w = 0, h = 0;
        const std::int64_t n = place(first, &w, &h);
        const std::vector<std::int32_t> start = {0, static_cast<std::int32_t>(w),
                                                 static_cast<std::int32_t>(h),
                                                 static_cast<std::int32_t>(n)};
        const std::vector<std::uint16_t> offsets = {s, r};
        const TensorTile tile = make_unfolded_tile(map, start, offsets, TileEnd::kElement);
        EXPECT_EQ(tile.bytes(), 32u * 16);
        std::size_t run = 0;
        for (std::uint32_t row = 0; row < 32; ++row) {
          const std::int64_t image = place(first + row, &w, &h);
          const std::int64_t x = w + s, y = h + r;
          const bool inside = x >= 0 && x < kWidth && y >= 0 && y < kHeight && image < kImages;
          if (!inside) continue;
          ASSERT_LT(run, tile.runs.size());
          const auto pixel = static_cast<std::uint64_t>((image * kHeight + y) * kWidth + x);
          EXPECT_EQ(tile.runs[run].address, 0x1'0000 + pixel * 16) << first << " " << row;
          EXPECT_EQ(tile.runs[run].at, row * 16);
          EXPECT_EQ(tile.runs[run].bytes, 16u);
          ++run;
        }
        EXPECT_EQ(run, tile.runs.size());
      }
    }
  }
}

TEST(UnfoldedTile, StepsOverPixels) {
  TileMap map = matrix(0);
  unfold(map);
  map.element_strides = {1, 2, 2, 1, 1};
  const int none[] = {0, 0};
  ASSERT_TRUE(map.set_unfolding(7, none, none));
  const TensorTile tile =
      make_unfolded_tile(map, std::vector<std::int32_t>{0, 0, 0, 0}, {}, TileEnd::kElement);
  std::vector<std::uint64_t> pixels;
  for (const TensorTile::Run& run : tile.runs) pixels.push_back(run.address / 16);
  // Columns 0, 2, 4 of rows 0 and 2, and of the next image.
  EXPECT_EQ(pixels, (std::vector<std::uint64_t>{0, 2, 4, 10, 12, 14, 20}));
}

TEST(UnfoldedTile, HasRangesWithPixels) {
  TileMap map = matrix(0);
  unfold(map);
  const int lower[] = {2, 0}, upper[] = {-3, 0};
  ASSERT_TRUE(map.set_unfolding(8, lower, upper));
  EXPECT_NE(flaw_of(map).find("no pixel in dimension 1"), std::string::npos) << flaw_of(map);
  const int wide[] = {-2, 0};
  ASSERT_TRUE(map.set_unfolding(0, lower, wide));
  EXPECT_NE(flaw_of(map).find("0 pixels"), std::string::npos) << flaw_of(map);
  ASSERT_TRUE(map.set_unfolding(8, lower, wide));
  EXPECT_EQ(flaw_of(map), "");
}

}  // namespace
}  // namespace baton::sim::tensor_tile_test
