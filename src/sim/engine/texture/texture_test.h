#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/run/test_device.h"
#include "sim/engine/texture/texture.h"

namespace baton::sim {

// Runs instructions on textures and surfaces.
class Textures : public testing::Test {
 protected:
  static constexpr std::uint32_t kWidth = 8, kHeight = 4, kDepth = 3;

  Textures() : config_(TestDevice::config(1)) {
    config_.textures = table;
    engine = std::make_unique<Engine>(config_, device.memory);
  }

  // Texel (x, y, z) has the value x + 10 y + 100 z.
  TextureView floats(int dimensions) {
    TextureView view;
    view.dimensions = dimensions;
    view.extents = {kWidth, dimensions > 1 ? kHeight : 1, dimensions > 2 ? kDepth : 1};
    view.type = TexelType::kF32;
    view.pitch = 64;
    view.slice = 64 * kHeight;
    std::vector<float> texels(16 * kHeight * kDepth);
    for (std::uint32_t k = 0; k < texels.size(); ++k) {
      texels[k] = static_cast<float>(k % 16 + 10 * (k / 16 % kHeight) + 100 * (k / 16 / kHeight));
    }
    view.address = device.upload(texels);
    return view;
  }

  // Runs `body` for 32 threads. %r1 is the thread, %d1 its four words of the result, %d2 the
  // handle, %f1 the thread / 2 as a float.
  std::vector<std::uint32_t> run(const std::string& body, std::uint64_t handle,
                                 CUresult wanted = CUDA_SUCCESS) {
    const auto module = device.load(R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 object) {
  .reg .pred %p<4>;
  .reg .b16 %h<8>;
  .reg .b32 %r<20>;
  .reg .f32 %f<20>;
  .reg .b64 %d<20>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %d1, [out];
  mad.wide.u32 %d1, %r1, 16, %d1;
  ld.param.u64 %d2, [object];
  cvt.rn.f32.u32 %f1, %r1;
  mul.f32 %f1, %f1, 0f3F000000;
)" + body + "\n  ret;\n}\n");
    const std::uint64_t out = device.upload(std::vector<std::uint32_t>(128));
    GridLaunch launch;
    launch.module = module;
    launch.kernel = module->kernel("k");
    launch.block = {32};
    launch.finds_own_races = finds_races_;
    launch.params.resize(16);
    std::memcpy(launch.params.data(), &out, 8);
    std::memcpy(launch.params.data() + 8, &handle, 8);
    const auto grid = engine->begin(std::move(launch));
    Grid* grids[] = {grid.get()};
    while (grid->state() == Grid::State::kRunning) engine->advance(grids, 1'000'000);
    EXPECT_EQ(grid->fault(), wanted);
    return device.download<std::uint32_t>(out, 128);
  }
  std::vector<std::uint32_t> fetch(const std::string& instruction, const TextureView& view) {
    return run(instruction + R"(
  st.global.v4.f32 [%d1], {%f2, %f3, %f4, %f5};)",
               add(view));
  }
  void expect_finding(driver::FindingKind kind, const std::string& message) {
    const auto found = engine->take_findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, kind);
    EXPECT_NE(found[0].message.find(message), std::string::npos) << found[0].message;
  }
  std::uint64_t add(const TextureView& view) {
    table->add(next_, view);
    return next_++;
  }
  static float at(const std::vector<std::uint32_t>& words, std::size_t thread) {
    return std::bit_cast<float>(words[4 * thread]);
  }

  TestDevice device;
  std::shared_ptr<TextureTable> table = std::make_shared<TextureTable>();
  EngineConfig config_;
  std::unique_ptr<Engine> engine;
  bool finds_races_ = false;

 private:
  std::uint64_t next_ = 1;
};

}  // namespace baton::sim
