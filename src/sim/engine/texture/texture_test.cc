// Textures and surfaces in kernels.

#include "sim/engine/texture/texture_test.h"

#include <fmt/core.h>

#include <cmath>

namespace baton::sim::texture_test {
namespace {

using driver::FindingKind;

TEST_F(Textures, TakesTheNearestTexel) {
  const auto words = fetch("tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f1}];", floats(1));
  for (std::size_t k = 0; k < 32; ++k) {
    EXPECT_EQ(at(words, k), static_cast<float>(std::min<std::size_t>(k / 2, kWidth - 1)));
    EXPECT_EQ(words[4 * k + 1], 0u);
    EXPECT_EQ(std::bit_cast<float>(words[4 * k + 3]), 1.0f);
  }
  EXPECT_TRUE(engine->take_findings().empty());
}

TEST_F(Textures, TakesTexelsByIndex) {
  TextureView view = floats(2);
  view.modes = {AddressMode::kBorder, AddressMode::kClamp, AddressMode::kClamp};
  view.border = {7, 0, 0, 0};
  const auto words = fetch(
      "add.s32 %r2, %r1, -2; tex.2d.v4.f32.s32 {%f2, %f3, %f4, %f5}, "
      "[%d2, {%r2, %r1}];",
      view);
  for (int k = 0; k < 32; ++k) {
    const int x = k - 2, y = std::min(k, 3);
    EXPECT_EQ(at(words, static_cast<std::size_t>(k)),
              x < 0 || x > 7 ? 7.0f : static_cast<float>(x + 10 * y));
  }
}

// The value is linear inside, so that filtering gives the coordinate back.
TEST_F(Textures, FiltersInEachDimension) {
  TextureView view = floats(3);
  view.is_filtered = true;
  const auto words = fetch(R"(
  fma.rn.f32 %f6, %f1, 0f3E000000, 0f3FC00000;  // 1.5 + thread / 16
  tex.3d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f6, %f6, %f6, %f6}];)",
                           view);
  for (std::size_t k = 0; k < 16; ++k) {
    const float part = static_cast<float>(k) / 16;
    EXPECT_EQ(at(words, k), 111 * (1 + part)) << k;
  }
}

TEST_F(Textures, AFilteredFetchAtATexelTakesThatAlone) {
  TextureView view = floats(1);
  view.is_filtered = true;
  view.extents[0] = 1;
  // The memory ends after the texel.
  view.address = device.upload(std::vector<float>{5});
  const auto words = fetch(
      "mov.f32 %f6, 0f3F000000; tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, "
      "[%d2, {%f6}];",
      view);
  EXPECT_EQ(at(words, 0), 5.0f);
  EXPECT_TRUE(engine->take_findings().empty());
}

TEST_F(Textures, NormalizedCoordinatesWrap) {
  TextureView view = floats(1);
  view.has_normalized_coordinates = true;
  view.modes[0] = AddressMode::kWrap;
  const auto words = fetch(R"(
  fma.rn.f32 %f6, %f1, 0f3E800000, 0fC0000000;  // thread / 8 - 2
  tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f6}];)",
                           view);
  for (std::size_t k = 0; k < 32; ++k) EXPECT_EQ(at(words, k), static_cast<float>(k % 8));
}

TEST_F(Textures, LinearMemoryGives0BehindItsEnd) {
  TextureView view = floats(1);
  view.is_linear = true;
  view.type = TexelType::kU8;
  view.extents[0] = 10;
  std::vector<std::uint8_t> bytes(10);
  for (std::size_t k = 0; k < 10; ++k) bytes[k] = static_cast<std::uint8_t>(200 + k);
  view.address = device.upload(bytes);
  const auto words = run(R"(
  add.s32 %r2, %r1, -1;
  tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%d2, {%r2}];
  st.global.v4.u32 [%d1], {%r3, %r4, %r5, %r6};)",
                         add(view));
  for (std::uint32_t k = 0; k < 32; ++k) {
    EXPECT_EQ(words[4 * k], k >= 1 && k <= 10 ? 199 + k : 0);
  }
}

// The texels are those of the guide's example, where tex2Dgather of component 2 gives (31, 29, 37,
// 30), whose order is that of the corners.
TEST_F(Textures, GathersOneComponent) {
  TextureView view;
  view.dimensions = 2;
  view.extents = {2, 2, 1};
  view.type = TexelType::kU8;
  view.channels = 4;
  view.pitch = 8;
  view.address = device.upload(std::vector<std::uint8_t>{
      251, 22, 30, 250, 249, 16, 37, 253,    // the row above: (0, 0), (1, 0)
      253, 20, 31, 255, 250, 25, 29, 254});  // (0, 1), (1, 1)
  const auto words = run(R"(
  mov.f32 %f6, 0f3F800000;
  tld4.b.2d.v4.u32.f32 {%r3, %r4, %r5, %r6}, [%d2, {%f6, %f6}];
  st.global.v4.u32 [%d1], {%r3, %r4, %r5, %r6};)",
                         add(view));
  EXPECT_EQ((std::vector<std::uint32_t>{words.begin(), words.begin() + 4}),
            (std::vector<std::uint32_t>{31, 29, 37, 30}));
}

TEST_F(Textures, LevelsAndGradientsChangeNothing) {
  const auto level = fetch(
      "mov.f32 %f9, 0f40000000; tex.level.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, "
      "[%d2, {%f1, %f1}], %f9;",
      floats(2));
  const auto gradients = fetch(
      "tex.grad.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f1, %f1}], "
      "{%f1, %f1}, {%f1, %f1};",
      floats(2));
  EXPECT_EQ(at(level, 5), 22.0f);
  EXPECT_EQ(level, gradients);
}

TEST_F(Textures, EachLaneMayHaveItsOwn) {
  const std::uint64_t first = add(floats(1));
  TextureView other = floats(1);
  other.address += 4;
  ASSERT_EQ(add(other), first + 1);
  const auto words = run(R"(
  and.b32 %r2, %r1, 1;
  cvt.u64.u32 %d3, %r2;
  add.u64 %d2, %d2, %d3;
  mov.u32 %r3, 3;
  tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [%d2, {%r3}];
  st.global.v4.f32 [%d1], {%f2, %f3, %f4, %f5};)",
                         first);
  for (std::size_t k = 0; k < 32; ++k) EXPECT_EQ(at(words, k), k % 2 == 0 ? 3.0f : 4.0f);
}

TEST_F(Textures, LayersAreChosenByNumber) {
  TextureView view = floats(3);
  view.dimensions = 2;
  view.is_layered = true;
  view.is_filtered = true;
  const std::uint64_t handle = add(view);
  const auto words = run(R"(
  shr.u32 %r2, %r1, 3;
  fma.rn.f32 %f6, %f1, 0f3E800000, 0f3FC00000;  // 1.5 + thread / 8
  mov.f32 %f7, 0f40200000;
  tex.a2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%r2, %f6, %f7, %f7}];
  st.global.v4.f32 [%d1], {%f2, %f3, %f4, %f5};)",
                         handle);
  for (std::size_t k = 0; k < 32; ++k) {
    const auto layer = std::min<std::size_t>(k / 8, kDepth - 1);
    EXPECT_EQ(at(words, k), 1 + static_cast<float>(k) / 8 + 20 + 100 * static_cast<float>(layer));
  }
  view.is_surface = true;
  const auto stored = run(R"(
  and.b32 %r2, %r1, 1;
  shl.b32 %r3, %r1, 1;
  and.b32 %r3, %r3, 28;
  sust.b.a2d.b32.trap [%d2, {%r2, %r3, %r2, %r2}], {%r1};
  add.u32 %r4, %r2, 2;
  suld.b.a2d.b32.zero %r5, [%d2, {%r4, %r3, %r2, %r2}];
  suld.b.a2d.b32.clamp %r6, [%d2, {%r4, %r3, %r2, %r2}];
  st.global.v2.u32 [%d1], {%r5, %r6};)",
                          add(view));
  // Layer 2 is there, layer 3 is not.
  EXPECT_EQ(at(stored, 0), 200.0f);
  EXPECT_EQ(stored[4], 0u);
  EXPECT_EQ(std::bit_cast<float>(stored[5]), 210.0f);
  EXPECT_TRUE(engine->take_findings().empty());
  run("mov.u32 %r2, 3; sust.b.a2d.b32.trap [%d2, {%r2, %r2, %r2, %r2}], {%r1};", add(view),
      CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(FindingKind::kOutOfBounds, "at layer 3, where it has 3 layers");
  run("tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f1, %f1}];", handle,
      CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(FindingKind::kBadTexture,
                 "takes a texture of 2 dimensions with layers for one of 2");
}

TEST_F(Textures, SurfacesAreReduced) {
  TextureView view = floats(2);
  view.is_surface = true;
  view.type = TexelType::kU32;
  view.address = device.upload(std::vector<std::uint32_t>(64));
  const std::uint64_t handle = add(view);
  const auto words = run(R"(
  and.b32 %r2, %r1, 4;   // two words, of 16 threads each
  mov.u32 %r3, 1;
  neg.s32 %r4, %r1;
  mov.u32 %r6, 2;
  cvt.s64.s32 %d3, %r4;
  sured.b.add.2d.u32.trap [%d2, {%r2, %r3}], %r1;
  sured.b.min.2d.s32.clamp [%d2, {%r2, %r6}], %r4;
  sured.b.max.2d.u32.zero [%d2, {%r4, %r4}], 7;  // those of thread 0 are inside
  shl.b32 %r5, 1, %r1;
  mov.u32 %r7, 3;
  sured.b.or.2d.b32.trap [%d2, {%r2, %r7}], {%r5};
  mov.u32 %r8, 16;
  sured.b.min.2d.s64.trap [%d2, {%r8, %r3}], %d3;
  bar.sync 0;
  suld.b.2d.b32.trap %r10, [%d2, {%r2, %r3}];
  suld.b.2d.b32.trap %r11, [%d2, {%r2, %r6}];
  suld.b.2d.b32.trap %r12, [%d2, {%r2, %r7}];
  suld.b.2d.b32.trap %r13, [%d2, {%r8, %r3}];
  st.global.v4.u32 [%d1], {%r10, %r11, %r12, %r13};)",
                         handle);
  // Threads 0 to 3, 8 to 11 and so on have word 0.
  EXPECT_EQ(words[0], 216u);
  EXPECT_EQ(static_cast<std::int32_t>(words[1]), -27);
  EXPECT_EQ(words[2], 0x0f0f0f0fu);
  EXPECT_EQ(static_cast<std::int32_t>(words[3]), -31);
  EXPECT_EQ(static_cast<std::int32_t>(words[17]), -31);
  EXPECT_TRUE(engine->take_findings().empty());
  run("sured.b.add.2d.u32.trap [%d2, {%r1, %r1}], %r1;", handle, CUDA_ERROR_MISALIGNED_ADDRESS);
}

TEST_F(Textures, SurfacesCountBytes) {
  TextureView view = floats(2);
  view.is_surface = true;
  const std::uint64_t handle = add(view);
  const auto words = run(R"(
  and.b32 %r2, %r1, 7;
  shr.u32 %r3, %r1, 3;
  shl.b32 %r4, %r2, 2;
  suld.b.2d.b32.trap {%r5}, [%d2, {%r4, %r3}];
  st.global.u32 [%d1], %r5;
  sust.b.2d.b32.trap [%d2, {%r4, %r3}], {%r1};
  and.b32 %r4, %r4, 24;
  bar.sync 0;
  suld.b.2d.v2.b32.trap {%r6, %r7}, [%d2, {%r4, %r3}];
  st.global.v2.u32 [%d1+8], {%r6, %r7};)",
                         handle);
  for (std::uint32_t k = 0; k < 32; ++k) {
    EXPECT_EQ(at(words, k), static_cast<float>(k % 8 + 10 * (k / 8)));
    EXPECT_EQ(words[4 * k + 2], k / 2 * 2);
    EXPECT_EQ(words[4 * k + 3], k / 2 * 2 + 1);
  }
  EXPECT_TRUE(engine->take_findings().empty());
}

TEST_F(Textures, SurfacesClampAndDrop) {
  TextureView view = floats(1);
  view.is_surface = true;
  const std::uint64_t handle = add(view);
  const auto words = run(R"(
  add.s32 %r2, %r1, -4;
  shl.b32 %r2, %r2, 2;
  suld.b.1d.b32.clamp %r3, [%d2, {%r2}];
  suld.b.1d.b32.zero %r4, [%d2, {%r2}];
  sust.b.1d.b32.zero [%d2, {%r2}], %r1;
  mov.u32 %r6, 28;
  suld.b.1d.b32.trap %r5, [%d2, {%r6}];
  st.global.v4.u32 [%d1], {%r3, %r4, %r5, %r6};)",
                         handle);
  for (int k = 0; k < 32; ++k) {
    const auto thread = static_cast<std::size_t>(k);
    const int x = k - 4;
    EXPECT_EQ(at(words, thread), static_cast<float>(std::clamp(x, 0, 7)));
    EXPECT_EQ(std::bit_cast<float>(words[4 * thread + 1]),
              x < 0 || x > 7 ? 0.0f : static_cast<float>(x));
    EXPECT_EQ(words[4 * thread + 2], 11u);
  }
}

TEST_F(Textures, ATrapOutsideOfASurfaceIsFound) {
  TextureView view = floats(2);
  view.is_surface = true;
  run("shl.b32 %r2, %r1, 2; mov.u32 %r3, 4; sust.b.2d.b32.trap [%d2, {%r2, %r3}], {%r1};",
      add(view), CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(FindingKind::kOutOfBounds,
                 "accesses 4 bytes of a surface at row 4, where it has 4 rows");
}

TEST_F(Textures, AMisalignedSurfaceAccessIsFound) {
  TextureView view = floats(1);
  view.is_surface = true;
  run("mov.u32 %r2, 2; suld.b.1d.b32.trap %r3, [%d2, {%r2}];", add(view),
      CUDA_ERROR_MISALIGNED_ADDRESS);
  expect_finding(FindingKind::kMisaligned, "reads 4 bytes");
}

TEST_F(Textures, AQueryGivesTheExtents) {
  const auto words = run(R"(
  txq.width.b32 %r2, [%d2];
  txq.height.b32 %r3, [%d2];
  txq.depth.b32 %r4, [%d2];
  st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r4};)",
                         add(floats(3)));
  EXPECT_EQ((std::vector<std::uint32_t>{words.begin(), words.begin() + 3}),
            (std::vector<std::uint32_t>{kWidth, kHeight, kDepth}));
}

TEST_F(Textures, AHandleOfNothingIsFound) {
  const char* const body = "tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f1}];";
  run(body, 12345678, CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(FindingKind::kBadTexture, "no object of this context has that handle");
  TextureView view = floats(1);
  view.is_surface = true;
  const std::uint64_t surface = add(view);
  run(body, surface, CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(FindingKind::kBadTexture, "it is a surface object");
  table->remove(surface);
  run(body, surface, CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(FindingKind::kBadTexture, "no object of this context");
  run(body, add(floats(2)), CUDA_ERROR_LAUNCH_FAILED);
  expect_finding(FindingKind::kBadTexture, "takes a texture of 2 dimensions for one of 1");
}

TEST_F(Textures, MemoryThatWasFreedIsFound) {
  const TextureView view = floats(1);
  device.memory.free(view.address);
  run("tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f1}];", add(view),
      CUDA_ERROR_ILLEGAL_ADDRESS);
  expect_finding(FindingKind::kUseAfterFree, "reads 4 bytes of global memory");
}

TEST_F(Textures, MemoryThatNothingWroteIsFound) {
  TextureView view = floats(1);
  view.address = device.memory.allocate(256);
  run("tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f1}];", add(view));
  expect_finding(FindingKind::kUninitialized, "that nothing wrote");
}

// The CUDA programming guide, "Read/Write Coherency": such a read gives anything.
TEST_F(Textures, AReadOfWhatTheGridWroteIsARace) {
  device.memory.impl().watch();
  config_.watch_shared = true;
  engine = std::make_unique<Engine>(config_, device.memory);
  finds_races_ = true;
  TextureView view = floats(1);
  const std::uint64_t texture = add(view);
  view.is_surface = true;
  const std::uint64_t surface = add(view);
  ASSERT_EQ(surface, texture + 1);
  run(R"(
  add.u64 %d3, %d2, 1;
  mov.u32 %r2, 0;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  sust.b.1d.b32.trap [%d3, {%r2}], {%r1};
  tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [%d2, {%r2}];
DONE:)",
      texture);
  expect_finding(FindingKind::kGlobalRace, "a texture or a surface) may miss that");
}

TEST_F(Textures, WhatIsNotThereIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"tex.2dms.v4.f32.s32 {%f2, %f3, %f4, %f5}, [%d2, {%r1, %r1, %r1, %r1}];", "geometry .2dms"},
      {"suld.b.cube.b32.trap %r2, [%d2, {%r1, %r1, %r1, %r1}];", "layers"},
      {"tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, %d2, {%f1, %f1}];", "a sampler apart"},
      {"tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [name, {%f1, %f1}];", "references"},
      {"sust.p.2d.v4.b32.trap [%d2, {%r1, %r1}], {%r1, %r1, %r1, %r1};", "formatted"},
      {"sured.p.add.2d.b32.trap [%d2, {%r1, %r1}], %r1;", "formatted"},
      {"sured.b.min.2d.b32.trap [%d2, {%r1, %r1}], %r1;", "combination"},
      {"suq.num_mipmap_levels.b32 %r2, [%d2];", "none of .width"},
  };
  for (const auto& [instruction, message] : cases) {
    run(instruction, add(floats(2)), CUDA_ERROR_NOT_SUPPORTED);
    expect_finding(FindingKind::kUnsupportedInstruction, message);
  }
}

}  // namespace
}  // namespace baton::sim::texture_test
