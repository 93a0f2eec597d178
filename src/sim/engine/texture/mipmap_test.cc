// Mipmaps and cubes in kernels.

#include <cmath>

#include "sim/engine/texture/texture_test.h"

namespace baton::sim::mipmap_test {
namespace {

// Of a view of rows of 16 texels, those after the first one are further levels.
TEST_F(Textures, LevelsOfAMipmapAreChosenAndBlended) {
  TextureView view = floats(1);
  view.smaller = {{view.address + 64, {4, 1, 1}, 64, 256},
                  {view.address + 128, {2, 1, 1}, 64, 256}};
  view.has_normalized_coordinates = true;
  view.most_level = 9;
  const std::string by_level = R"(
  mul.f32 %f6, %f1, 0f3F000000;  // thread / 4
  mov.f32 %f7, 0f00000000;
  tex.level.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f7}], %f6;)";
  const auto nearest = fetch(by_level, view);
  view.blends_levels = true;
  const auto blended = fetch(by_level, view);
  view.level_bias = 0.5f;
  view.least_level = 0.75f;
  const auto biased = fetch(by_level, view);
  for (std::size_t k = 0; k < 32; ++k) {
    const float level = std::min(static_cast<float>(k) / 4, 2.0f);
    EXPECT_EQ(at(nearest, k), 10 * std::floor(level + 0.5f)) << k;
    EXPECT_EQ(at(blended, k), 10 * level) << k;
    EXPECT_EQ(at(biased, k), 10 * std::clamp(static_cast<float>(k) / 4 + 0.5f, 0.75f, 2.0f)) << k;
  }
  // 8 texels of level 0: a change by 2/8 from pixel to pixel is level 1.
  const auto gradients = fetch(R"(
  mov.f32 %f6, 0f3E800000;
  mov.f32 %f7, 0f00000000;
  tex.grad.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f7}], {%f7}, {%f6};)",
                               view);
  EXPECT_EQ(at(gradients, 0), 15.0f);  // with the bias
  const auto base = fetch(
      "mov.f32 %f7, 0f00000000; tex.base.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f7}];", view);
  EXPECT_EQ(at(base, 0), 7.5f);  // as low as the range lets it
  const auto counted =
      run("txq.num_mipmap_levels.b32 %r2, [%d2]; txq.array_size.b32 %r3, [%d2]; "
          "st.global.v2.u32 [%d1], {%r2, %r3};",
          add(view));
  EXPECT_EQ(counted[0], 3u);
  EXPECT_EQ(counted[1], 0u);
  EXPECT_TRUE(engine->take_findings().empty());
}

TEST_F(Textures, CubesAreFetchedByDirection) {
  TextureView view = floats(1);
  view.dimensions = 2;
  view.is_cube = view.is_layered = true;
  view.extents = {1, 1, 12};  // two cubes, whose faces are rows
  view.slice = 64;
  // Thread k looks along axis k / 2 % 3, backwards if it is odd, in cube k / 6.
  const auto words = run(R"(
  rem.u32 %r2, %r1, 6;
  div.u32 %r3, %r1, 6;
  and.b32 %r4, %r1, 1;
  setp.ne.u32 %p1, %r4, 0;
  selp.f32 %f6, 0fBF800000, 0f3F800000, %p1;
  shr.u32 %r2, %r2, 1;
  setp.eq.u32 %p1, %r2, 0;
  selp.f32 %f7, %f6, 0f3E800000, %p1;
  setp.eq.u32 %p1, %r2, 1;
  selp.f32 %f8, %f6, 0f3E800000, %p1;
  setp.eq.u32 %p1, %r2, 2;
  selp.f32 %f9, %f6, 0f3E800000, %p1;
  tex.acube.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%r3, %f7, %f8, %f9}];
  txq.array_size.b32 %r5, [%d2];
  st.global.v2.u32 [%d1], {%r5, %r5};
  st.global.f32 [%d1+4], %f2;)",
                         add(view));
  for (std::size_t k = 0; k < 32; ++k) {
    const auto face = static_cast<float>(k % 6 + 6 * std::min<std::size_t>(k / 6, 1));
    // Slice n is row n % 4 of plane n / 4.
    const float plane = std::floor(face / 4);
    EXPECT_EQ(std::bit_cast<float>(words[4 * k + 1]), 100 * plane + 10 * (face - 4 * plane)) << k;
    EXPECT_EQ(words[4 * k], 2u);
  }
  run("tex.a2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%r1, %f1, %f1, %f1}];", add(view),
      CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(driver::FindingKind::kBadTexture,
                 "takes a texture of a cube with layers for one of 2 dimensions with layers");
}

}  // namespace
}  // namespace baton::sim::mipmap_test
