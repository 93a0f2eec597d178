// Copies by tensor maps: the order of a tile in shared memory, when they happen, and what is
// refused. What they move is held to real GPUs by the conformance tests.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "baton/error.h"
#include "sim/engine/async/tensor_map.h"
#include "sim/engine/async/tensor_tile.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim {
namespace {

using Words = std::vector<std::uint32_t>;

// What stands at its address in the tests of copies: the last row lacks two.
constexpr std::size_t kWords = 510;

// 8 rows of 64 words, boxes of 4 rows of 32.
TileMap matrix(std::uint64_t address) {
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

// What a convolution of 3 x 3 pixels with a border of one reads: 6 images of 4 x 5 pixels.
constexpr std::int64_t kWidth = 5, kHeight = 4, kImages = 6, kChannels = 4;

void unfold(TileMap& map) {
  map.rank = 4;
  map.extents = {kChannels, kWidth, kHeight, kImages, 1};
  map.strides = {4, 16, 16 * kWidth, 16 * kWidth * kHeight, 0};
  map.box = {kChannels, 1, 1, 1, 1};
  const int corners[] = {-1, -1};
  ASSERT_TRUE(map.set_unfolding(32, corners, corners));
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
}  // namespace baton::sim
