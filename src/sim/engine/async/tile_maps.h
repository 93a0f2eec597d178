#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "sim/engine/async/tensor_map.h"

namespace baton::sim {

// 8 rows of 64 words, boxes of 4 rows of 32.
inline TileMap matrix(std::uint64_t address) {
  TileMap map;
  map.address = address;
  map.extents = {64, 8, 1, 1, 1};
  map.strides = {4, 256, 0, 0, 0};
  map.box = {32, 4, 1, 1, 1};
  map.element_strides = {1, 1, 1, 1, 1};
  map.rank = 2;
  map.type = TensorType::kU32;
  return map;
}

// 6 images of 4 x 5 pixels, read by a convolution of 3 x 3 pixels with a border of one.
inline constexpr std::int64_t kWidth = 5, kHeight = 4, kImages = 6, kChannels = 4;

inline void unfold(TileMap& map) {
  map.rank = 4;
  map.extents = {kChannels, kWidth, kHeight, kImages, 1};
  map.strides = {4, 16, 16 * kWidth, 16 * kWidth * kHeight, 0};
  map.box = {kChannels, 1, 1, 1, 1};
  const int corners[] = {-1, -1};
  ASSERT_TRUE(map.set_unfolding(32, corners, corners));
}

}  // namespace baton::sim
