// Copies by tensor maps: when they happen, and what is refused. Conformance tests compare what they
// move with real GPUs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "baton/error.h"
#include "sim/engine/async/tensor_map.h"
#include "sim/engine/async/tile_maps.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::tensor_copy_test {
namespace {

using Words = std::vector<std::uint32_t>;

// What stands at its address in the tests of copies: the last row lacks two.
constexpr std::size_t kWords = 510;

// A kernel over a map, `in` (%in) and `out` (%out), with a tile of 4096 bytes and an mbarrier.
std::string kernel(const std::string& body) {
  return R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 in, .param .u64 out) {
  .shared .align 1024 .b8 tile[4096];
  .shared .align 8 .b64 bar;
  .reg .pred %p<10>;
  .reg .b32 %r<30>, %t, %x, %y;
  .reg .b64 %rd<20>, %map, %in, %out;
  mov.b64 %map, map;
  cvta.param.u64 %map, %map;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, tile;
  mov.u32 %x, 0;
  mov.u32 %y, 0;
  mbarrier.init.shared.b64 [bar], 1;
)" + body +
         "\n  ret;\n}\n";
}

struct Outcome {
  Grid::State state;
  Words in, out;
  std::vector<driver::Finding> findings;

  bool found(std::string_view kind, const std::string& part) const {
    return std::any_of(findings.begin(), findings.end(), [&](const driver::Finding& one) {
      return to_string(one.kind) == kind && one.message.find(part) != std::string::npos;
    });
  }
  std::string list() const {
    std::string text;
    for (const driver::Finding& one : findings) {
      text += fmt::format("{}: {}\n", to_string(one.kind), one.message);
    }
    return text;
  }
};

Outcome run(
    const std::string& body, void (*change)(TileMap& map) = [](TileMap&) {},
    bool watch_shared = false) {
  TestDevice device(1, watch_shared);
  Words values(kWords);
  for (std::uint32_t k = 0; k < values.size(); ++k) values[k] = 1000 + k;
  const std::uint64_t in = device.upload(values);
  const std::uint64_t out = device.upload(Words(512, 0));
  TileMap map = matrix(in);
  change(map);
  const auto grid = device.run(device.load(kernel(body)), "k", {1}, {1}, pack(map), in, out);
  return {grid->state(), device.download<std::uint32_t>(in, kWords),
          device.download<std::uint32_t>(out, 512), device.engine.findings()};
}

constexpr const char* kLoad =
    "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[%t], [%map, {%x, %y}], [bar];\n";
constexpr const char* kWait =
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0; @!%p1 bra WAIT;\n";

TEST(TensorCopy, IsSeenWhenItsMbarrierIs) {
  const Outcome outcome =
      run(std::string("mov.u32 %r1, 7; st.shared.u32 [tile+132], %r1;\n") +
          "mov.u32 %x, 4; mov.u32 %y, 5;\n" + kLoad +
          "ld.shared.u32 %r2, [tile+132]; st.global.u32 [%out], %r2;\n" + kWait +
          "ld.shared.u32 %r2, [tile+132]; st.global.u32 [%out+4], %r2;\n"
          "ld.shared.u32 %r2, [tile+384]; st.global.u32 [%out+8], %r2;\n");
  ASSERT_EQ(outcome.state, Grid::State::kFinished) << outcome.list();
  EXPECT_EQ(outcome.out[0], 7u) << "not waited for";
  EXPECT_EQ(outcome.out[1], 1000u + 6 * 64 + 5);
  EXPECT_EQ(outcome.out[2], 0u) << "row 8 is outside";
}

TEST(TensorCopy, OfStoresReadsTheTileLate) {
  const std::string store =
      "mov.u32 %r1, 5; st.shared.u32 [tile], %r1;\n"
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%x, %y}], [%t];\n"
      "cp.async.bulk.commit_group;\n";
  const Outcome late = run(store +
                           "mov.u32 %r1, 6; st.shared.u32 [tile], %r1;\n"
                           "cp.async.bulk.wait_group 0;\n");
  ASSERT_EQ(late.state, Grid::State::kFinished) << late.list();
  EXPECT_EQ(late.in[0], 6u) << "the source was overwritten too early";
  const Outcome waited = run(store +
                             "cp.async.bulk.wait_group.read 0;\n"
                             "mov.u32 %r1, 6; st.shared.u32 [tile], %r1;\n");
  EXPECT_EQ(waited.in[0], 5u) << waited.list();
}

// Rows of 64 bytes under a swizzle of 128: each begins a line, what is after it stays as it was.
TEST(TensorCopy, LeavesAloneWhatIsBehindNarrowRows) {
  const Outcome outcome =
      run(std::string("mov.u32 %r1, 7; st.shared.u32 [tile+192], %r1;\n") +
              "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n"
              "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
              "[%t], [%map, {%x, %y}], [bar];\n" +
              kWait +
              // Row 1: chunk k stands at 16 (k ^ 1), and none of it from 64 on.
              "ld.shared.u32 %r2, [tile+144]; st.global.u32 [%out], %r2;\n"
              "ld.shared.u32 %r2, [tile+160]; st.global.u32 [%out+4], %r2;\n"
              "ld.shared.u32 %r2, [tile+192]; st.global.u32 [%out+8], %r2;\n",
          [](TileMap& map) {
            map.box = {16, 4, 1, 1, 1};
            map.swizzle_bits = 3;
          });
  ASSERT_EQ(outcome.state, Grid::State::kFinished) << outcome.list();
  EXPECT_EQ(outcome.out[0], 1000u + 64);
  EXPECT_EQ(outcome.out[1], 1000u + 64 + 12);
  EXPECT_EQ(outcome.out[2], 7u);
}

constexpr const char* kStore =
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%map, {%x, %y}], [%t];\n"
    "cp.async.bulk.commit_group;\n"
    "cp.async.bulk.wait_group 0;\n";

TEST(TensorCopy, StoresWhatEndsWithinAChunk) {
  const std::string store = std::string(
                                "mov.u32 %x, 32; mov.u32 %r1, 5; st.shared.u32 [tile+104], %r1;\n"
                                "st.shared.u32 [tile+108], %r1; st.shared.u32 [tile+112], %r1;\n") +
                            kStore;
  const Outcome outcome = run(store, [](TileMap& map) { map.extents[0] = 59; });
  ASSERT_EQ(outcome.state, Grid::State::kFinished) << outcome.list();
  EXPECT_EQ(outcome.in[58], 5u);
  EXPECT_EQ(outcome.in[59], 5u) << "behind the end of the row, in its last chunk";
  EXPECT_EQ(outcome.in[60], 1060u);

  // Where memory ends with the tensor's last element, the store goes on beyond it.
  const auto last = [](TileMap& map) { map.extents[0] = 62; };
  const Outcome beyond = run("mov.u32 %y, 4;\n" + store, last);
  EXPECT_EQ(beyond.state, Grid::State::kFaulted);
  EXPECT_TRUE(beyond.found("out_of_bounds", "writes 128 bytes of global memory")) << beyond.list();
}

TEST(TensorCopy, RefusesWhatIsNoMap) {
  const auto fault = [](
                         const std::string& body, const std::string& kind, const std::string& part,
                         void (*change)(TileMap & map) = [](TileMap&) {}) {
    const Outcome outcome = run(body, change);
    EXPECT_EQ(outcome.state, Grid::State::kFaulted) << body;
    EXPECT_TRUE(outcome.found(kind, part)) << body << "\n" << outcome.list();
  };
  const std::string load = kLoad;
  fault("mov.u64 %map, %in;\n" + load, "bad_copy", "are not a tensor map");
  fault("mov.u32 %x, 2;\n" + load, "bad_copy", "begins at element 2");
  fault("mov.u32 %x, -6;\n" + load, "bad_copy", "begins at element -6");
  fault("add.u64 %map, %map, 8;\n" + load, "misaligned", "not a multiple of 64");
  fault("mov.u64 %map, tile; cvta.shared.u64 %map, %map;\n" + load, "bad_copy",
        "must be a __grid_constant__ parameter");
  fault("mov.u64 %map, 0;\n" + load, "null_pointer", "reads 64 bytes");
  fault(load, "bad_copy", "takes a tensor of 2 dimensions, the map has 3",
        [](TileMap& map) { map.rank = 3; });
  fault("add.u32 %t, %t, 64;\n" + load, "misaligned", "not a multiple of 128");
  fault(load, "bad_copy", "moves a tile of 262144 bytes", [](TileMap& map) {
    map.box = {256, 256, 1, 1, 1};
  });
}

// Copies the map to `out` (lane 0), and loads by it from there.
std::string load_from_memory(const std::string& between) {
  std::string copy;
  for (int at = 0; at < 128; at += 8) {
    copy += fmt::format("ld.b64 %rd1, [%map+{0}]; st.global.b64 [%out+{0}], %rd1;\n", at);
  }
  return copy + between + "mov.u64 %map, %out;\n" + kLoad + kWait;
}

TEST(TensorCopy, NeedsMapsInMemoryToBeAcquired) {
  const std::string acquire = "fence.proxy.tensormap::generic.acquire.gpu [%out], 128;\n";
  const std::string other_bytes = "mov.u32 %r1, 0; st.global.b32 [%out+124], %r1;\n";
  const auto message = [](const std::string& between) {
    const Outcome outcome = run(
        load_from_memory(between), [](TileMap&) {}, true);
    EXPECT_EQ(outcome.state, Grid::State::kFinished) << outcome.list();
    EXPECT_LE(outcome.findings.size(), 1u) << outcome.list();
    return outcome.findings.empty() ? "" : outcome.list();
  };
  EXPECT_EQ(message(acquire), "");
  EXPECT_EQ(message(acquire + acquire), "");
  EXPECT_EQ(message(acquire + other_bytes), "") << "the same bytes again";
  EXPECT_NE(message("").find("stale_tensor_map: copies by the tensor map in global memory at"),
            std::string::npos);
  EXPECT_NE(message("").find("which no thread of the block acquired"), std::string::npos);
  EXPECT_NE(message("fence.proxy.async;\n").find("which no thread"), std::string::npos);
  EXPECT_NE(message("fence.proxy.tensormap::generic.release.gpu;\n").find("which no thread"),
            std::string::npos);
  EXPECT_NE(message("fence.proxy.tensormap::generic.acquire.gpu [%out+64], 128;\n")
                .find("which no thread"),
            std::string::npos);
}

TEST(TensorCopy, RefusesFencesOfOtherSizes) {
  TestDevice device;
  const auto module = device.load(kernel("fence.proxy.tensormap::generic.acquire.gpu [%out], 64;"));
  try {
    module->kernel("k");
    ADD_FAILURE() << "no error";
  } catch (const Error& failure) {
    EXPECT_NE(std::string(failure.what()).find("must be 128"), std::string::npos) << failure.what();
  }
}

TEST(TensorCopy, ReachesAsFarAsTheTensor) {
  const Outcome outcome =
      run(std::string("mov.u32 %y, 6;\n") + kLoad, [](TileMap& map) { map.extents[1] = 9; });
  EXPECT_EQ(outcome.state, Grid::State::kFaulted);
  EXPECT_TRUE(outcome.found("out_of_bounds", "reads 128 bytes of global memory")) << outcome.list();
}

TEST(TensorCopy, ReductionsAreOfTheMapsType) {
  const char* kReduce =
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%map, {%x, %y}], "
      "[%t];";
  EXPECT_EQ(run(kReduce).state, Grid::State::kFinished);
  const Outcome outcome = run(kReduce, [](TileMap& map) {
    map.type = TensorType::kU8;
    map.strides[0] = 1;
  });
  EXPECT_TRUE(outcome.found("bad_copy", "no such reduction")) << outcome.list();
  const auto ragged = [](TileMap& map) { map.extents[0] = 61; };
  EXPECT_EQ(run(kReduce, ragged).state, Grid::State::kFinished) << "the box ends before the row";
  const Outcome end = run(std::string("mov.u32 %x, 32;\n") + kReduce, ragged);
  EXPECT_TRUE(end.found("unsupported", "reduces into rows of 244 bytes")) << end.list();
}

TEST(TensorCopy, OtherModesAreRefusedByName) {
  const Outcome outcome =
      run("cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes "
          "[%t], [%map, {%x, %y, %y}], [bar], {1, 1};");
  EXPECT_EQ(outcome.state, Grid::State::kFaulted);
  EXPECT_TRUE(std::any_of(outcome.findings.begin(), outcome.findings.end(), [](const auto& one) {
    return one.message.find("copies by tensor maps in mode im2col::w") != std::string::npos;
  })) << outcome.list();
}

constexpr const char* kUnfold =
    "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\n"
    "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
    "[%t], [%map, {0, %x, %x, 0}], [bar], {1, 2};\n";

TEST(TensorCopy, UnfoldsImages) {
  const Outcome outcome = run(std::string("mov.u32 %x, -1;\n") + kUnfold + kWait +
                                  "ld.shared.u32 %r2, [tile]; st.global.u32 [%out], %r2;\n"
                                  "ld.shared.u32 %r2, [tile+84]; st.global.u32 [%out+4], %r2;\n"
                                  "ld.shared.u32 %r2, [tile+240]; st.global.u32 [%out+8], %r2;\n"
                                  "ld.shared.u32 %r2, [tile+328]; st.global.u32 [%out+12], %r2;\n",
                              unfold);
  ASSERT_EQ(outcome.state, Grid::State::kFinished) << outcome.list();
  EXPECT_EQ(outcome.out[0], 1000u + 4 * 5) << "pixel (0, 1)";
  EXPECT_EQ(outcome.out[1], 1000u + 4 * 10 + 1) << "pixel (0, 2), channel 1";
  EXPECT_EQ(outcome.out[2], 0u) << "row 4 is outside";
  EXPECT_EQ(outcome.out[3], 1000u + 4 * 25 + 2) << "pixel (0, 1) of the next image, channel 2";
}

TEST(TensorCopy, StoresPixels) {
  const Outcome outcome =
      run("mov.u32 %r1, 77; st.shared.u32 [tile+16], %r1; mov.u32 %x, 4;\n"
          "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "
          "[%map, {0, %x, 0, 0}], [%t];\n"
          "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n",
          [](TileMap& map) {
            unfold(map);
            const int none[] = {0, 0};
            map.set_unfolding(2, none, none);
          });
  ASSERT_EQ(outcome.state, Grid::State::kFinished) << outcome.list();
  EXPECT_EQ(outcome.in[4 * 5], 77u) << "the pixel behind (4, 0) is (0, 1)";
}

TEST(TensorCopy, TakesMapsOfItsMode) {
  const Outcome tiled = run(kUnfold, [](TileMap& map) {
    unfold(map);
    map.unfolds = 0;
    map.box = {4, 5, 4, 2, 1};
  });
  EXPECT_TRUE(tiled.found("bad_copy", "copies in mode im2col, the tensor map at")) << tiled.list();
  const Outcome unfolded =
      run("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
          "[%t], [%map, {%x, %x, %x, %x}], [bar];\n",
          unfold);
  EXPECT_TRUE(unfolded.found("bad_copy", "copies in mode tiled")) << unfolded.list();
}

}  // namespace
}  // namespace baton::sim::tensor_copy_test
