#include "baton/tensor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session/test_program.h"

// Tensor maps as arguments of programs. The kernels are those of testdata/tensor_maps.cu.

namespace baton::session_test::tensor_map_test {
namespace {

using ::testing::HasSubstr;

class TensorMapArguments : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    if (open_device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  }
};

std::string map_kernel(const std::string& name) {
  return "[kernels." + name + "]\nptx = \"tensor_maps.ptx\"\nentry = \"" + name + "\"\n";
}
std::string map_of(const std::string& keys) {
  return "{ tensor_map = { " + keys + " } }";
}
std::string launch(const std::string& kernel, const std::string& block, const std::string& args) {
  return "[[steps]]\nlaunch = \"" + kernel + "\"\ngrid = [1]\nblock = [" + block + "]\nargs = [" +
         args + "]\n";
}

// The words of the map that a program passes in the second of two rounds, and those of the options
// with the buffer's address. Only the map may depend on the index of the round.
void expect_words(const std::string& keys, TensorMapOptions options, std::uint64_t offset = 0) {
  const std::string text =
      "[symbols]\nM = 16\nK = 64\n" + buffer("x", "f32", "[\"M\", \"K\"]", "input", "zeros") +
      buffer("words", "u64", "[16]", "output") + buffer("address", "u64", "[1]", "output") +
      map_kernel("dump_map") +
      "[[steps]]\nrepeat = 2\nindex = \"i\"\nsteps = [ { launch = \"dump_map\", grid = [1], "
      "block = [16], args = [" +
      map_of(keys) + ", \"x\", \"words\", \"address\"] } ]\n";
  const Device device = open_device();
  Executable executable = Executable::prepare(program(text), device);
  executable.run();
  options.address = values<std::uint64_t>(executable.output("address"))[0] + offset;
  const TensorMap map = TensorMap::encode(device, options);
  std::vector<std::uint64_t> want(16);
  std::memcpy(want.data(), map.bytes(), sizeof(map));
  EXPECT_EQ(values<std::uint64_t>(executable.output("words")), want) << keys;
}

TEST_F(TensorMapArguments, AreEncodedWithTheBuffersAddress) {
  TensorMapOptions options;
  options.shape = {16, 64};
  options.box = {8, 16};
  expect_words(R"(buffer = "x", box = [8, 16])", options);
  options.type = TensorMapType::kTF32;
  options.swizzle = TensorMapSwizzle::k64B;
  options.l2_promotion = TensorMapL2Promotion::k128B;
  options.oob_fill = TensorMapFill::kNan;
  options.element_strides = {2, 1};
  expect_words(
      R"(buffer = "x", box = ["M / 2", 16], type = "tf32", swizzle = "64b", l2_promotion = "128b", )"
      R"(oob_fill = "nan", element_strides = [2, 1])",
      options);
  TensorMapOptions part;
  part.shape = {4, 2, 32};
  part.strides = {128, 32, 1};
  part.box = {1, 2, 32};
  expect_words(
      R"(buffer = "x + 4*K", shape = [4, 2, 32], strides = ["2 * K", 32, 1], box = [1, 2, 32])",
      part, 4 * 64 * 4);
}

TEST_F(TensorMapArguments, EachKeyAloneFollowsTheRound) {
  TensorMapOptions options;
  options.shape = {15, 64};
  options.box = {8, 16};
  expect_words(R"(buffer = "x + 64 * i", shape = [15, 64], box = [8, 16])", options, 64 * 4);
  expect_words(R"(buffer = "x", shape = ["16 - i", 64], box = [8, 16])", options);
  options.shape = {8, 64};
  options.strides = {128, 1};
  expect_words(R"(buffer = "x", shape = [8, 64], strides = ["64 + 64 * i", 1], box = [8, 16])",
               options);
  options.strides.clear();
  expect_words(R"(buffer = "x", shape = [8, 64], box = ["7 + i", 16])", options);
  options.element_strides = {2, 1};
  expect_words(R"(buffer = "x", shape = [8, 64], box = [8, 16], element_strides = ["1 + i", 1])",
               options);
}

struct Bad {
  const char* keys;
  const char* message;
};

TEST_F(TensorMapArguments, AreCheckedBeforeAnythingRuns) {
  for (const Bad& bad : {
           Bad{R"(buffer = "x", box = [8, "M * 32"])", "box[1] is 512, it must be 1 to 256"},
           Bad{R"(buffer = "x", box = [8, "M - 16"])", "box[1] is 0, it must be 1 to 256"},
           Bad{R"(buffer = "x", box = [8, 2])", "box[1] is 2 elements, 8 bytes"},
           Bad{R"(buffer = "x", box = [8, 16], swizzle = "32b")",
               "the most with swizzle 32b is 32 bytes"},
           Bad{R"(buffer = "x + 2", shape = [8, 8], box = [8, 4])",
               "address is aligned to 8 bytes, it must be to 16"},
           Bad{R"(buffer = "x + 4", box = [8, 4])",
               "last element is 1023 elements after its first, the buffer has 1020"},
           Bad{R"(buffer = "x + 1024", box = [8, 4])", "outside the buffer of 1024 elements"},
           Bad{R"(buffer = "x", shape = [17, 64], box = [8, 4])",
               "last element is 1087 elements after its first, the buffer has 1024"},
           Bad{R"(buffer = "x", strides = ["K + 1", 1], box = [8, 4])",
               "strides[0] is 65 elements, 260 bytes"},
           Bad{R"(buffer = "x", box = [8, 4], interleave = "16b")",
               "shape has 2 dimensions, with interleave 16b"},
           Bad{R"(buffer = "x", box = [8, 4], swizzle = "128b_atom_32b", type = "u32")",
               "swizzle 128b_atom_32b needs compute capability 10.0"},
       }) {
    if (open_device().architecture() >= 100 &&
        std::string(bad.message).find("10.0") != std::string::npos) {
      continue;
    }
    const std::string text =
        "[symbols]\nM = 16\nK = 64\n" + buffer("x", "f32", "[\"M\", \"K\"]", "input", "zeros") +
        buffer("words", "u64", "[16]", "output") + buffer("address", "u64", "[1]", "output") +
        map_kernel("dump_map") +
        launch("dump_map", "16", map_of(bad.keys) + ", \"x\", \"words\", \"address\"");
    const Error failure = refusal(text);
    EXPECT_THAT(failure.message(), HasSubstr(bad.message));
    EXPECT_EQ(failure.where().file, "test.toml") << failure.what();
    EXPECT_GT(failure.where().column, 0) << failure.what();
    EXPECT_THAT(failure.what(), HasSubstr("argument 0 of dump_map"));
  }
}

TEST_F(TensorMapArguments, NeedAParameterThatHoldsOne) {
  const std::string text = buffer("x", "f32", "[16, 64]", "input", "zeros") +
                           buffer("out", "u64", "[1]", "output") + map_kernel("take_words") +
                           map_kernel("dump_map");
  const std::string map = map_of(R"(buffer = "x", box = [8, 4])");
  EXPECT_THAT(refusal(text + launch("take_words", "1", "\"out\", " + map)).message(),
              HasSubstr("argument 1 of take_words is a tensor map, which must be aligned to 64 "
                        "bytes; the parameter lies at byte 16"));
  EXPECT_THAT(refusal(text + launch("take_words", "1", map + ", \"out\"")).message(),
              HasSubstr("argument 0 of take_words is a tensor map of 128 bytes, the parameter has "
                        "8"));
}

// Tiles of 8 by 16 floats go from buffer to buffer.
std::string tile(const std::string& name, const std::string& keys = "") {
  return map_of("buffer = \"" + name + "\", box = [8, 16]" + keys);
}
const std::string kTiles = buffer("x", "f32", "[16, 64]", "input", "arange") +
                           buffer("y", "f32", "[16, 64]", "output", "zeros") +
                           buffer("z", "f32", "[16, 64]", "output", "zeros") +
                           map_kernel("move_tile") + map_kernel("early_tile") +
                           map_kernel("tile_behind");

TEST_F(TensorMapArguments, MoveTilesOfBuffers) {
  Executable executable = Executable::prepare(
      program(kTiles +
              "[[steps]]\nrepeat = 2\nindex = \"i\"\nsteps = [ { launch = \"move_tile\", "
              "grid = [1], block = [1], args = [" +
              tile("x + 64 * i", ", shape = [15, 64]") + ", " + tile("y") +
              ", \"60 * i\", \"12 * i\"] } ]\n"),
      open_device());
  executable.run();
  const std::vector<float> got = values<float>(executable.output("y"));
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 64; ++column) {
      const bool first = row < 8 && column < 16;
      const bool second = row >= 12 && column >= 60;
      // The second tile begins at row 12 of the tensor, which begins at row 1.
      const int want = first ? 64 * row + column : second && row < 15 ? 64 * (row + 1) + column : 0;
      EXPECT_EQ(got[static_cast<std::size_t>(64 * row + column)], static_cast<float>(want))
          << row << ", " << column;
    }
  }
}

// Of the second launch.
EdgeReport edge_of(const std::string& second) {
  const CheckReport report =
      Executable::prepare(
          program(kTiles + launch("move_tile", "1", tile("x") + ", " + tile("y") + ", 0, 0") +
                  second),
          open_device())
          .check();
  EXPECT_EQ(report.edges.size(), 1u);
  return report.edges.at(0);
}

TEST_F(TensorMapArguments, CountAsTheirBuffersInVerdicts) {
  const auto moves = [](const std::string& kernel, const std::string& from, const std::string& to) {
    return launch(kernel, "1", from + ", " + to + ", 0, 0");
  };
  const EdgeReport waits = edge_of(moves("move_tile", tile("y"), tile("z")));
  EXPECT_EQ(waits.verdict, EdgeVerdict::kProven) << waits.reason;
  const EdgeReport other = edge_of(moves("early_tile", tile("x"), tile("z")));
  EXPECT_EQ(other.verdict, EdgeVerdict::kProven) << other.reason;
  const EdgeReport early = edge_of(moves("early_tile", tile("y"), tile("z")));
  EXPECT_NE(early.verdict, EdgeVerdict::kProven) << early.reason;
  EXPECT_THAT(early.reason, HasSubstr("y"));
  const EdgeReport part =
      edge_of(moves("early_tile", tile("y + 512", ", shape = [8, 64]"), tile("z")));
  EXPECT_NE(part.verdict, EdgeVerdict::kProven) << part.reason;
  // The owner of a map in memory is unknown.
  const EdgeReport behind = edge_of(moves("tile_behind", "\"x\"", tile("z")));
  EXPECT_EQ(behind.verdict, EdgeVerdict::kUnknown) << behind.reason;
}

}  // namespace
}  // namespace baton::session_test::tensor_map_test
