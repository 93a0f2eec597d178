// Tensor maps that kernels make and change: every field, and what is refused. What copies do by
// them is held to real GPUs by the conformance tests.

#include "sim/engine/async/tensor_map_change.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "baton/error.h"
#include "sim/engine/async/tensor_map.h"
#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::tensor_map_change_test {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t kColumns = 64, kRows = 8;

// 8 rows of 64 words, boxes of 4 rows of 32.
TileMap words_map(std::uint64_t address) {
  TileMap map;
  map.address = address;
  map.extents = {kColumns, kRows, 1, 1, 1};
  map.strides = {4, 4 * kColumns, 0, 0, 0};
  map.box = {32, 4, 1, 1, 1};
  map.element_strides = {1, 1, 1, 1, 1};
  map.rank = 2;
  map.type = TensorType::kU32;
  return map;
}

std::string replace(const std::string& field, const std::string& operands, unsigned bits = 32) {
  return fmt::format("@%first tensormap.replace.tile.{}.shared::cta.b1024.b{} [fresh], {};\n",
                     field, bits, operands);
}

// The same map made of zeros.
std::string all_fields() {
  return replace("global_address", "%in", 64) + replace("rank", "1") + replace("box_dim", "0, 32") +
         replace("box_dim", "1, 4") + replace("global_dim", "0, 64") +
         replace("global_dim", "1, 8") + replace("global_stride", "0, 256", 64) +
         replace("element_stride", "0, 1") + replace("element_stride", "1, 1") +
         replace("elemtype", "2") + replace("interleave_layout", "0") +
         replace("swizzle_mode", "0") + replace("swizzle_atomicity", "0") +
         replace("fill_mode", "0");
}

constexpr const char* kZeros =
    "@%first st.shared.v2.b64 [fresh], {0, 0}; @%first st.shared.v2.b64 [fresh+16], {0, 0};\n"
    "@%first st.shared.v2.b64 [fresh+32], {0, 0}; @%first st.shared.v2.b64 [fresh+48], {0, 0};\n"
    "@%first st.shared.v2.b64 [fresh+64], {0, 0}; @%first st.shared.v2.b64 [fresh+80], {0, 0};\n"
    "@%first st.shared.v2.b64 [fresh+96], {0, 0}; @%first st.shared.v2.b64 [fresh+112], {0, 0};\n";

// The map that is given, in shared memory.
std::string given() {
  std::string copy = "mov.b64 %rd1, given; cvta.param.u64 %rd1, %rd1;\n";
  for (int at = 0; at < 128; at += 8) {
    copy += fmt::format(
        "@%first ld.b64 %rd2, [%rd1+{0}]; @%first st.shared.b64 [fresh+{0}], %rd2;\n", at);
  }
  return copy;
}

constexpr const char* kPublish =
    "bar.warp.sync -1;\n"
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[%map], [fresh], 128;\n";
constexpr const char* kAcquire = "fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n";
// The box at element 4 of row 1, and the first word of each of its rows to `out`.
constexpr const char* kLoad = R"(
  @%first mbarrier.init.shared.b64 [bar], 1;
  @%first fence.proxy.async.shared::cta;
  @%first mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;
  mov.u32 %r2, tile;
  @%first cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%map, {4, 1}], [bar];
  bar.sync 0;
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra WAIT;
  shl.b32 %r3, %r1, 2; shl.b32 %r4, %r1, 7; and.b32 %r4, %r4, 511;
  add.u32 %r2, %r2, %r4; ld.shared.u32 %r2, [%r2];
  cvt.u64.u32 %rd3, %r3; add.u64 %rd3, %rd3, %out; st.global.u32 [%rd3], %r2;
)";

std::string kernel(const std::string& body) {
  return R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 given[128], .param .u64 in, .param .u64 out,
                  .param .u64 map) {
  .shared .align 1024 .b8 tile[4096];
  .shared .align 128 .b8 fresh[128];
  .shared .align 8 .b64 bar;
  .reg .pred %p<4>, %first;
  .reg .b32 %r<10>;
  .reg .b64 %rd<10>, %in, %out, %map;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  ld.param.u64 %map, [map];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %first, %r1, 0;
)" + body +
         "\n  ret;\n}\n";
}

struct Outcome {
  Grid::State state;
  Words out;
  std::vector<driver::Finding> findings;

  std::string list() const {
    std::string text;
    for (const driver::Finding& one : findings) {
      text += fmt::format("{}: {}\n", to_string(one.kind), one.message);
    }
    return text;
  }
};

Outcome run(const std::string& body, unsigned threads = 32) {
  TestDevice device(1, true);
  Words values(kColumns * kRows);
  for (std::uint32_t k = 0; k < values.size(); ++k) values[k] = 1000 + k;
  const std::uint64_t in = device.upload(values);
  const std::uint64_t out = device.upload(Words(32, 0));
  const std::uint64_t map = device.upload(Words(32, 7));
  TileMap other = words_map(out);  // that `given` becomes the map is seen by what it loads
  other.extents = {1, 1, 1, 1, 1};
  const auto grid =
      device.run(device.load(kernel(body)), "k", {1}, {threads}, pack(other), in, out, map);
  return {grid->state(), device.download<std::uint32_t>(out, 32), device.engine.findings()};
}

void expect_loaded(const Outcome& outcome) {
  ASSERT_EQ(outcome.state, Grid::State::kFinished) << outcome.list();
  EXPECT_TRUE(outcome.findings.empty()) << outcome.list();
  for (std::uint32_t k = 0; k < 32; ++k) {
    EXPECT_EQ(outcome.out[k], 1000 + (1 + k % 4) * kColumns + 4) << k;
  }
}

TEST(TensorMapChange, MakesAMapOfZeros) {
  expect_loaded(run(kZeros + all_fields() + kPublish + kAcquire + kLoad));
}

TEST(TensorMapChange, ChangesAMapThatIsGiven) {
  const std::string changes = replace("global_address", "%in", 64) +
                              replace("global_dim", "0, 64") + replace("global_dim", "1, 8");
  expect_loaded(run(given() + changes + kPublish + kAcquire + kLoad));
}

TEST(TensorMapChange, ChangesAMapInGlobalMemory) {
  const std::string fields = all_fields();
  std::string global = "mov.u64 %rd5, %map;\n";
  for (int at = 0; at < 128; at += 16) {
    global += fmt::format("@%first st.global.v2.b64 [%map+{}], {{0, 0}};\n", at);
  }
  for (std::string rest = fields; !rest.empty();) {
    const std::size_t end = rest.find('\n') + 1;
    std::string line = rest.substr(0, end);
    rest.erase(0, end);
    line.replace(line.find("shared::cta"), 11, "global");
    line.replace(line.find("[fresh]"), 7, "[%rd5]");
    global += line;
  }
  expect_loaded(run(global + "fence.proxy.tensormap::generic.release.gpu;\nbar.warp.sync -1;\n" +
                    kAcquire + kLoad));
}

TEST(TensorMapChange, NeedsTheAcquire) {
  const Outcome outcome = run(kZeros + all_fields() + kPublish + kLoad);
  EXPECT_NE(outcome.list().find("stale_tensor_map"), std::string::npos) << outcome.list();
  const Outcome changed =
      run(kZeros + all_fields() + kPublish + kAcquire + replace("fill_mode", "0") +
          replace("swizzle_mode", "1") + replace("box_dim", "0, 8") + kPublish + kLoad);
  EXPECT_NE(changed.list().find("which changed after the block acquired it"), std::string::npos)
      << changed.list();
}

// All lanes of a warp copy the map, so that the acquire of each of them is after its own copy.
TEST(TensorMapChange, OrdersTheLanesThatPublish) {
  const std::string text = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 map) {
  .shared .align 128 .b8 fresh[128];
  .reg .pred %first, %second;
  .reg .b32 %r<4>;
  .reg .b64 %map;
  ld.param.u64 %map, [map];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %first, %r1, 0;
  setp.ge.u32 %second, %r1, 32;
)";
  const auto found = [&](const char* second_warp) {
    TestDevice device(1, true);
    device.memory.impl().watch();
    return device.findings_of(
        device.load(text + second_warp + kZeros + kPublish + kAcquire + "DONE: ret;\n}\n"), {1}, 32,
        true);
  };
  EXPECT_TRUE(found("@%second bra DONE;\n").empty());
  // Of another warp it is not.
  const auto races = found(
      "@%second fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n"
      "@%second bra DONE;\n");
  ASSERT_FALSE(races.empty());
  EXPECT_EQ(to_string(races[0].kind), "global_race");
}

TEST(TensorMapChange, SetsEachField) {
  TileMap map = words_map(0x1000);
  const auto set = [&map](MapField field, unsigned ordinal, std::uint64_t value) {
    EXPECT_EQ(replace_field(map, field, ordinal, value), "");
  };
  set(MapField::kAddress, 0, 0x2000);
  set(MapField::kRank, 0, 4);
  set(MapField::kBox, 4, 256);
  set(MapField::kExtent, 4, UINT32_MAX);
  set(MapField::kStride, 3, 4096);
  set(MapField::kElementStride, 4, 8);
  set(MapField::kElementStride, 0, 4);
  set(MapField::kSwizzle, 0, 3);
  set(MapField::kFill, 0, 1);
  EXPECT_EQ(map.address, 0x2000u);
  EXPECT_EQ(map.rank, 5);
  EXPECT_EQ(map.box[4], 256);
  EXPECT_EQ(map.extents[4], UINT32_MAX);
  EXPECT_EQ(map.strides[4], 4096u);
  EXPECT_EQ(map.element_strides[4], 8);
  EXPECT_EQ(map.element_strides[0], 1) << "ignored, as the driver does";
  EXPECT_EQ(map.swizzle_bits, 3);
  EXPECT_EQ(map.fills_nan, 1);
  // PTX numbers f32.ftz, f64 and bf16 as 8, 9 and 10.
  const std::pair<std::uint64_t, TensorType> types[] = {
      {0, TensorType::kU8},      {5, TensorType::kI64}, {6, TensorType::kF16},
      {8, TensorType::kF32Ftz},  {9, TensorType::kF64}, {10, TensorType::kBF16},
      {12, TensorType::kTF32Ftz}};
  for (const auto& [number, type] : types) {
    set(MapField::kType, 0, number);
    EXPECT_EQ(map.type, type);
    EXPECT_EQ(map.element_size(), size_of(type));
    EXPECT_TRUE(unpack_tensor_map(pack(map)).has_value());
  }
}

TEST(TensorMapChange, SaysWhatAMapLacks) {
  EXPECT_EQ(flaw_of(words_map(0x1000)), "");
  const auto flaw = [](void (*change)(TileMap & map)) {
    TileMap map = words_map(0x1000);
    change(map);
    return flaw_of(map);
  };
  EXPECT_EQ(flaw([](TileMap& m) { m.address = 8; }),
            "its tensor is at 0x8: the address has to be a multiple of 16");
  EXPECT_EQ(flaw([](TileMap& m) { m.extents[1] = 0; }),
            "its tensor has 0 elements in dimension 1: 1 to 4294967296 are possible");
  EXPECT_EQ(flaw([](TileMap& m) { m.box[0] = 0; }),
            "its box has 0 elements in dimension 0: 1 to 256 are possible");
  EXPECT_EQ(flaw([](TileMap& m) { m.element_strides[1] = 0; }),
            "its element stride in dimension 1 is 0: 1 to 8 are possible");
  EXPECT_EQ(flaw([](TileMap& m) { m.strides[1] = 8; }),
            "its stride in dimension 1 is 8 bytes: it has to be a multiple of 16 below "
            "1099511627776");
  EXPECT_EQ(flaw([](TileMap& m) { m.box[0] = 2; }),
            "a row of its box has 8 bytes: they have to be a multiple of 16");
  EXPECT_EQ(flaw([](TileMap& m) { m.swizzle_bits = 1; }),
            "a row of its box has 128 bytes: 32 are possible with its swizzle");
  EXPECT_EQ(flaw([](TileMap& m) { m.fills_nan = 1; }),
            "it fills with NaN, which its type does not have");
  EXPECT_EQ(flaw([](TileMap& m) { m.box[4] = 0; }), "") << "not one of its dimensions";
}

TEST(TensorMapChange, RefusesBadValues) {
  const auto fault = [](const std::string& body, const std::string& kind, const std::string& part) {
    const Outcome outcome = run(kZeros + body);
    EXPECT_EQ(outcome.state, Grid::State::kFaulted) << body;
    EXPECT_NE(outcome.list().find(kind + ": "), std::string::npos) << body << outcome.list();
    EXPECT_NE(outcome.list().find(part), std::string::npos) << body << "\n" << outcome.list();
  };
  fault(replace("rank", "5"), "bad_copy", "sets rank of a tensor map to 5: 4 is the most");
  fault(replace("box_dim", "1, 257"), "bad_copy", "sets box_dim 1 of a tensor map to 257: 256 is");
  fault(replace("element_stride", "1, 9"), "bad_copy", "sets element_stride 1");
  fault(replace("global_stride", "0, 0x10000000000", 64), "bad_copy", "sets global_stride 0");
  fault(replace("global_stride", "0, 40", 64), "bad_copy", "it has to be a multiple of 16");
  fault(replace("global_address", "4100", 64), "bad_copy",
        "sets global_address of a tensor map to 0x1004: it has to be a multiple of 16");
  fault("@%first tensormap.replace.tile.rank.global.b1024.b32 [%in], 1;", "bad_copy",
        "are neither a tensor map nor zeros");
  fault("mov.u64 %rd1, 0; @%first tensormap.replace.tile.rank.b1024.b32 [%rd1], 1;", "bad_copy",
        "changes a tensor map at 0x0, which has to be in shared or global memory");
  fault(
      "mov.b64 %rd1, given; cvta.param.u64 %rd1, %rd1;\n"
      "@%first tensormap.replace.tile.rank.b1024.b32 [%rd1], 1;",
      "bad_copy", "has to be in shared or global memory");
  fault("@%first tensormap.replace.tile.rank.shared::cta.b1024.b32 [fresh+8], 1;", "misaligned",
        "not a multiple of 64");
  fault("@%first tensormap.replace.tile.rank.global.b1024.b32 [%out+128], 1;", "out_of_bounds", "");
  // A field that was never set.
  fault(replace("global_address", "%in", 64) + replace("elemtype", "2") + replace("rank", "1") +
            kPublish + kAcquire + kLoad,
        "bad_copy", "its tensor has 0 elements in dimension 0");
  for (const char* field : {"interleave_layout", "swizzle_atomicity"}) {
    fault(replace(field, "1"), "unsupported_instruction",
          fmt::format("tensor maps with {} 1", field));
  }
  fault(replace("swizzle_mode", "4"), "unsupported_instruction", "tensor maps with swizzle_mode 4");
  fault(replace("elemtype", "13"), "unsupported_instruction", "tensor maps with elemtype 13");
}

TEST(TensorMapChange, RefusesWhatIsNoInstruction) {
  const auto refused = [](const std::string& body, const std::string& part) {
    TestDevice device;
    const auto module = device.load(kernel(body));
    try {
      module->kernel("k");
      ADD_FAILURE() << "no error: " << body;
    } catch (const Error& failure) {
      EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
    }
  };
  refused(replace("box_dim", "5, 1"), "must be a constant from 0 to 4, a dimension of box_dim");
  refused(replace("global_stride", "4, 16", 64), "from 0 to 3, a dimension of global_stride");
  refused(replace("global_dim", "%r1, 16"), "must be a constant from 0 to 4");
  refused(replace("elemtype", "16"), "elemtype must be a constant from 0 to 15");
  refused(replace("swizzle_mode", "%r1"), "swizzle_mode must be a constant from 0 to 4");
  refused(replace("rank", "%in", 64), "rank of a tensor map has 32 bits");
  refused(replace("global_address", "%r1", 32), "global_address of a tensor map has 64 bits");
  refused(
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
      "[%map], [fresh], 64;",
      "the third operand must be 128");
}

}  // namespace
}  // namespace baton::sim::tensor_map_change_test
