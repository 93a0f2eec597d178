// What a fetch takes, against examples and formulas of the CUDA programming guide.

#include "sim/engine/texture/sampler.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace baton::sim::sampler_test {
namespace {

using Mode = AddressMode;

TEST(Sampler, TheNearestTexelIsTheFloor) {
  EXPECT_EQ(nearest_texel(2.99, 8, Mode::kClamp, false), 2);
  EXPECT_EQ(nearest_texel(3, 8, Mode::kClamp, false), 3);
  EXPECT_EQ(nearest_texel(0.5, 8, Mode::kClamp, true), 4);
  EXPECT_EQ(nearest_texel(0.4999, 8, Mode::kClamp, true), 3);
}

TEST(Sampler, CoordinatesOutsideAreAddressed) {
  EXPECT_EQ(nearest_texel(-3, 8, Mode::kClamp, false), 0);
  EXPECT_EQ(nearest_texel(99, 8, Mode::kClamp, false), 7);
  EXPECT_EQ(nearest_texel(-0.01, 8, Mode::kBorder, false), -1);
  EXPECT_EQ(nearest_texel(8, 8, Mode::kBorder, false), -1);
  EXPECT_EQ(nearest_texel(1.25, 8, Mode::kWrap, true), 2);
  EXPECT_EQ(nearest_texel(-0.125, 8, Mode::kWrap, true), 7);
  EXPECT_EQ(nearest_texel(1.25, 8, Mode::kMirror, true), 6);
  EXPECT_EQ(nearest_texel(2.25, 8, Mode::kMirror, true), 2);
  EXPECT_EQ(nearest_texel(-0.25, 8, Mode::kMirror, true), 2);
  EXPECT_EQ(nearest_texel(1.0, 8, Mode::kMirror, true), 7);
  // Only normalized coordinates repeat.
  EXPECT_EQ(nearest_texel(9, 8, Mode::kWrap, false), 7);
  EXPECT_EQ(nearest_texel(-2, 8, Mode::kMirror, false), 0);
}

// The guide's table of cubes, at (s + 1) / 2 = 3/4 and (t + 1) / 2 = 5/8 of each face.
TEST(Sampler, ADirectionMeetsAFaceOfACube) {
  const float directions[6][3] = {{2, -0.5f, -1}, {-2, -0.5f, 1}, {1, 2, 0.5f},
                                  {1, -2, -0.5f}, {1, -0.5f, 2},  {-1, -0.5f, -2}};
  for (unsigned face = 0; face < 6; ++face) {
    const CubePoint point =
        cube_point(directions[face][0], directions[face][1], directions[face][2]);
    EXPECT_EQ(point.face, face);
    EXPECT_EQ(point.s, 0.75);
    EXPECT_EQ(point.t, 0.625);
  }
  // No direction at all.
  for (const float none : {0.0f, std::nanf("")}) {
    const CubePoint point = cube_point(none, none, none);
    EXPECT_TRUE(point.face < 6 && point.s == 0.5 && point.t == 0.5);
  }
}

TEST(Sampler, LevelsLieInTheRange) {
  TextureView view;
  view.smaller.resize(3);
  view.most_level = 100;
  view.blends_levels = true;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(levels_at(view, -kInfinity).first, 0u);
  EXPECT_EQ(levels_at(view, kInfinity).first, 3u);
  EXPECT_EQ(levels_at(view, kInfinity).second, 3u);
  EXPECT_EQ(levels_at(view, std::nan("")).first, 0u);
  const LevelPair between = levels_at(view, 1.75);
  EXPECT_EQ(between.first, 1u);
  EXPECT_EQ(between.second, 2u);
  EXPECT_EQ(between.second_weight, 192u);
  view.blends_levels = false;
  EXPECT_EQ(levels_at(view, 1.75).first, 2u);
  EXPECT_EQ(levels_at(view, 1.75).second_weight, 0u);
  // Without a change from pixel to pixel.
  EXPECT_EQ(levels_at(view, level_of_gradients(view, {}, {})).first, 0u);
}

TEST(Sampler, StrangeCoordinatesTakeSomeTexel) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double x : {kInfinity, -kInfinity, std::nan(""), 1e300, -1e300}) {
    for (const Mode mode : {Mode::kWrap, Mode::kClamp, Mode::kMirror}) {
      for (const bool normalized : {false, true}) {
        const std::int64_t texel = nearest_texel(x, 5, mode, normalized);
        EXPECT_TRUE(texel >= 0 && texel < 5) << x;
        const TexelPair both = filtered_texels(x, 5, mode, normalized);
        EXPECT_TRUE(both.first >= 0 && both.first < 5 && both.second >= 0 && both.second < 5) << x;
      }
    }
  }
}

// "if the x coordinate is 2.49805: xB=x-0.5=1.99805, however the fractional part of xB is stored in
// an 8-bit fixed-point format. Since 0.99805 is closer to 256.f/256.f than it is to 255.f/256.f, xB
// has the value 2."
TEST(Sampler, WeightsHave8BitsBehindThePoint) {
  const TexelPair rounded = filtered_texels(2.49805, 8, Mode::kClamp, false);
  EXPECT_EQ(rounded.first, 2);
  EXPECT_EQ(rounded.second, 3);
  EXPECT_EQ(rounded.second_weight, 0u);
  const TexelPair middle = filtered_texels(3.0, 8, Mode::kClamp, false);
  EXPECT_EQ(middle.first, 2);
  EXPECT_EQ(middle.second_weight, 128u);
  EXPECT_EQ(filtered_texels(2.5 + 1 / 256.0, 8, Mode::kClamp, false).second_weight, 1u);
}

TEST(Sampler, TexelsBesideTheEdgeAreAddressedEach) {
  const auto texels = [](double x, Mode mode, bool normalized) {
    const TexelPair f = filtered_texels(x, 4, mode, normalized);
    return std::pair(f.first, f.second);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(texels(0, Mode::kClamp, false), Pair(0, 0));
  EXPECT_EQ(texels(4, Mode::kClamp, false), Pair(3, 3));
  EXPECT_EQ(texels(0, Mode::kBorder, false), Pair(-1, 0));
  EXPECT_EQ(texels(4, Mode::kBorder, false), Pair(3, -1));
  EXPECT_EQ(texels(0, Mode::kWrap, true), Pair(3, 0));
  EXPECT_EQ(texels(1.0, Mode::kWrap, true), Pair(3, 0));
  EXPECT_EQ(texels(0, Mode::kMirror, true), Pair(0, 0));
  EXPECT_EQ(texels(1.0, Mode::kMirror, true), Pair(3, 3));
}

TextureView view_of(TexelType type, unsigned channels) {
  TextureView view;
  view.type = type;
  view.channels = channels;
  return view;
}

template <class T>
Texel texel_of(TextureView view, const std::vector<T>& channels) {
  return decode(view, reinterpret_cast<const std::byte*>(channels.data()));
}

float as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

TEST(Sampler, IntegersAreExtended) {
  const Texel s8 = texel_of<std::int8_t>(view_of(TexelType::kS8, 2), {-3, 7});
  EXPECT_EQ(s8, (Texel{static_cast<std::uint32_t>(-3), 7, 0, 1}));
  EXPECT_EQ(texel_of<std::uint8_t>(view_of(TexelType::kU8, 1), {200}), (Texel{200, 0, 0, 1}));
  EXPECT_EQ(texel_of<std::int16_t>(view_of(TexelType::kS16, 1), {-30000})[0],
            static_cast<std::uint32_t>(-30000));
  EXPECT_EQ(texel_of<std::uint32_t>(view_of(TexelType::kU32, 1), {0xfffffffe})[0], 0xfffffffe);
}

TEST(Sampler, NormalizedIntegersAreFloats) {
  const auto normalized = [](TexelType type, unsigned channels) {
    TextureView view = view_of(type, channels);
    view.reads_normalized = true;
    return view;
  };
  const Texel u8 = texel_of<std::uint8_t>(normalized(TexelType::kU8, 4), {0, 255, 51, 1});
  EXPECT_EQ(as_float(u8[0]), 0.0f);
  EXPECT_EQ(as_float(u8[1]), 1.0f);
  EXPECT_EQ(as_float(u8[2]), 0.2f);
  EXPECT_EQ(as_float(u8[3]), 1.0f / 255);
  const Texel s8 = texel_of<std::int8_t>(normalized(TexelType::kS8, 2), {-128, 127});
  EXPECT_EQ(as_float(s8[0]), -1.0f);
  EXPECT_EQ(as_float(s8[1]), 1.0f);
  EXPECT_EQ(as_float(s8[3]), 1.0f);
  EXPECT_EQ(as_float(texel_of<std::uint16_t>(normalized(TexelType::kU16, 1), {65535})[0]), 1.0f);
  EXPECT_EQ(as_float(texel_of<std::int16_t>(normalized(TexelType::kS16, 1), {-32767})[0]), -1.0f);
  // Of 32 bits they stay integers.
  EXPECT_EQ(texel_of<std::int32_t>(normalized(TexelType::kS32, 1), {7})[0], 7u);
}

TEST(Sampler, SrgbIsDecodedForColoursAlone) {
  TextureView view = view_of(TexelType::kU8, 4);
  view.reads_normalized = view.is_srgb = true;
  const Texel texel = texel_of<std::uint8_t>(view, {255, 10, 188, 188});
  EXPECT_EQ(as_float(texel[0]), 1.0f);
  EXPECT_NEAR(as_float(texel[1]), 10 / 255.0 / 12.92, 1e-7);
  EXPECT_NEAR(as_float(texel[2]), 0.5029, 1e-4);
  EXPECT_EQ(as_float(texel[3]), 188.0f / 255);
}

TEST(Sampler, HalvesAreExact) {
  const TextureView view = view_of(TexelType::kF16, 4);
  const Texel texel = texel_of<std::uint16_t>(view, {0x3c00, 0x0001, 0xc248, 0x7bff});
  EXPECT_EQ(as_float(texel[0]), 1.0f);
  EXPECT_EQ(as_float(texel[1]), std::ldexp(1.0f, -24));
  EXPECT_EQ(as_float(texel[2]), -3.140625f);
  EXPECT_EQ(as_float(texel[3]), 65504.0f);
  const Texel special = texel_of<std::uint16_t>(view, {0x7c00, 0xfc00, 0x7e00, 0x8000});
  EXPECT_TRUE(std::isinf(as_float(special[0])) && as_float(special[0]) > 0);
  EXPECT_TRUE(std::isinf(as_float(special[1])) && as_float(special[1]) < 0);
  EXPECT_TRUE(std::isnan(as_float(special[2])));
  EXPECT_EQ(special[3], 0x80000000u);
}

TEST(Sampler, SumsWeighTexels) {
  FilteredSum sum;
  const auto bits = [](float v) { return std::bit_cast<std::uint32_t>(v); };
  sum.add({bits(1), bits(-1), bits(0), bits(8)}, 0.25);
  sum.add({bits(3), bits(1), bits(2), bits(0)}, 0.75);
  sum.add({bits(std::numeric_limits<float>::infinity()), 0, 0, 0}, 0);
  EXPECT_EQ(sum.value(), (Texel{bits(2.5f), bits(0.5f), bits(1.5f), bits(2)}));
}

}  // namespace
}  // namespace baton::sim::sampler_test
