#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "session/world/test_ranks.h"

// Buffers whose contents are tensors of a .safetensors file.

namespace baton::session_test::tensor_stack_test {
namespace {

using ::testing::HasSubstr;

class TensorStackTest : public DeviceTest {
 protected:
  // A file of i32 tensors, [count] each, counted on from 0.
  void write_file(const std::vector<std::string>& names, std::int64_t count) {
    std::string header = "{", data;
    std::int32_t value = 0;
    for (const std::string& name : names) {
      header += (header.size() > 1 ? ",\"" : "\"") + name + "\":{\"dtype\":\"I32\",\"shape\":[" +
                std::to_string(count) + "],\"data_offsets\":[" + std::to_string(data.size()) + ",";
      for (std::int64_t i = 0; i < count; ++i, ++value) {
        data.append(reinterpret_cast<const char*>(&value), sizeof(value));
      }
      header += std::to_string(data.size()) + "]}";
    }
    header += "}";
    const std::uint64_t length = header.size();
    std::ofstream file(folder_.path() / "m.safetensors", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof(length));
    file << header << data;
  }

  // y is a copy of w.
  Program copying(const std::string& shape, const std::string& tensor,
                  const std::string& role = "weight", const std::string& dtype = "i32") {
    return Program::from_text(
        "[symbols]\nN = 3\n[buffers]\nw = { dtype = \"" + dtype + "\", shape = " + shape +
            ", role = \"" + role + "\", file = \"m.safetensors\", tensor = \"" + tensor + "\" }\n" +
            "y = { dtype = \"" + dtype + "\", shape = " + shape + ", role = \"output\" }\n" +
            "[[steps]]\ncopy = { from = \"w\", to = \"y\" }\n",
        "test.toml", folder_.path());
  }

  std::vector<int> result(const Program& program) {
    Executable executable = Executable::prepare(program, open_device());
    executable.run();
    return values<int>(executable.output("y"));
  }

  std::string failure(const Program& program) {
    try {
      result(program);
    } catch (const Error& failure) {
      EXPECT_EQ(failure.where().file, "test.toml");
      return failure.message();
    }
    return "was not refused";
  }

  TemporaryDirectory folder_;
};

std::vector<int> counted(int first, int count) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) result.push_back(first + i);
  return result;
}

TEST_F(TensorStackTest, ABindTellsHowFarItsUploadsAre) {
  write_file({"t0", "t1"}, 1000);
  Executable executable = Executable::prepare(copying("[2, 1000]", "t{i}"), open_device());
  std::vector<std::uint64_t> done;
  const auto progress = [&](const UploadProgress& at) {
    EXPECT_EQ(at.buffer, "w");
    EXPECT_EQ(at.bytes, 8000u);
    done.push_back(at.bytes_done);
  };
  executable.bind({.progress = progress});
  // The first part and the last one are told at once, others a few times a second.
  EXPECT_EQ(done, (std::vector<std::uint64_t>{4000, 8000}));
  // Neither this executable nor another one of the same program uploads the weights again.
  executable.bind({.progress = progress});
  Executable other(executable.loaded());
  other.bind({.progress = progress});
  EXPECT_EQ(done.size(), 2u);
}

TEST_F(TensorStackTest, AProgressThatThrowsEndsTheBind) {
  write_file({"t0", "t1"}, 1000);
  Executable executable = Executable::prepare(copying("[2, 1000]", "t{i}"), open_device());
  EXPECT_THROW(executable.bind({.progress = [](const UploadProgress&) { throw 7; }}), int);
  executable.run();
  EXPECT_EQ(values<int>(executable.output("y")).back(), 1999);
}

TEST_F(TensorStackTest, OneTensorIsUploaded) {
  write_file({"a", "b"}, 8);
  for (const char* role : {"weight", "input", "state", "inout"}) {
    EXPECT_EQ(result(copying("[8]", "b", role)), counted(8, 8)) << role;
  }
}

TEST_F(TensorStackTest, TensorsAreStackedOverAnIndex) {
  write_file({"l.0.w", "other", "l.1.w", "l.2.w", "l.3.w"}, 4);
  std::vector<int> want = counted(0, 4);
  for (const int value : counted(8, 8)) want.push_back(value);
  EXPECT_EQ(result(copying("[\"N\", 4]", "l.{layer}.w")), want);
}

// Larger than a chunk of the staging memory, and no multiple of it.
TEST_F(TensorStackTest, LargeTensorsArePassedInChunks) {
  const int count = (9 << 20) / 4 + 5;
  write_file({"a.0", "a.1"}, count);
  EXPECT_EQ(result(copying("[2, " + std::to_string(count) + "]", "a.{i}")), counted(0, 2 * count));
}

TEST_F(TensorStackTest, WhatDoesNotFitIsRefused) {
  write_file({"l.0.w", "l.1.w"}, 4);
  EXPECT_THAT(failure(copying("[\"N\", 4]", "l.{layer}.w")), HasSubstr("no tensor \"l.2.w\""));
  EXPECT_THAT(failure(copying("[5]", "l.0.w")),
              HasSubstr("is I32 [4], the buffer w wants i32 [5]; name another tensor, or give the "
                        "buffer its shape"));
  EXPECT_THAT(failure(copying("[4]", "l.0.w", "weight", "f32")),
              HasSubstr("is I32 [4], the buffer w wants f32 [4]; give the buffer the dtype i32"));
  const auto refused = [&](const std::string& shape, const std::string& tensor) {
    try {
      copying(shape, tensor);
    } catch (const Error& failure) {
      return failure.message();
    }
    return std::string("was not refused");
  };
  EXPECT_THAT(refused("[]", "l.{layer}.w"), HasSubstr("no dimension to stack over"));
  EXPECT_THAT(refused("[4]", "l.{}.w"), HasSubstr("braces that enclose no index"));
  EXPECT_THAT(refused("[4]", "l.{a}.{b}"), HasSubstr("braces that enclose no index"));
}

// The tensors l.0 to l.3 in two files with an index.
TEST_F(TensorStackTest, AModelMayHaveSeveralFiles) {
  write_file({"l.0", "l.1", "l.2"}, 4);
  std::filesystem::rename(folder_.path() / "m.safetensors", folder_.path() / "1.safetensors");
  write_file({"l.3"}, 4);
  std::filesystem::rename(folder_.path() / "m.safetensors", folder_.path() / "2.safetensors");
  write_file_atomically(folder_.path() / "m.safetensors.index.json",
                        R"({"weight_map":{"l.0":"1.safetensors","l.1":"1.safetensors",)"
                        R"("l.2":"1.safetensors","l.3":"2.safetensors"}})");
  std::vector<int> want = counted(0, 12);
  for (const int value : counted(0, 4)) want.push_back(value);
  // The name of one file stands for the index beside it, where there is no such file.
  EXPECT_EQ(result(copying("[4, 4]", "l.{i}")), want);
  EXPECT_THAT(failure(copying("[5, 4]", "l.{i}")), HasSubstr("index.json has no tensor \"l.4\""));
  std::filesystem::remove(folder_.path() / "2.safetensors");
  EXPECT_THAT(failure(copying("[4, 4]", "l.{i}")), HasSubstr("2.safetensors"));
}

// Each rank reads its part of the tensors: whole ones of a stack, or runs of each.
TEST_F(TensorStackTest, ARankReadsItsPart) {
  write_file({"l.0", "l.1"}, 6);
  const std::string groups =
      "[world]\n[world.groups]\na = \"max(ranks / 2, 1)\"\nb = \"min(ranks, 2)\"\n";
  struct Case {
    const char* shape;
    const char* shard;
    std::vector<std::vector<int>> want;  // by rank
  };
  const Case cases[] = {
      {"[\"2 / a_ranks\", 6]",
       "{ axis = 0, group = \"a\" }",
       {counted(0, 6), counted(0, 6), counted(6, 6), counted(6, 6)}},
      {"[2, \"6 / b_ranks\"]",
       "{ axis = 1, group = \"b\" }",
       {{0, 1, 2, 6, 7, 8}, {3, 4, 5, 9, 10, 11}, {0, 1, 2, 6, 7, 8}, {3, 4, 5, 9, 10, 11}}},
      {"[\"2 / a_ranks\", \"6 / b_ranks\"]",
       "[{ axis = 0, group = \"a\" }, { axis = 1, group = \"b\" }]",
       {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.shard);
    const Program program = Program::from_text(
        groups + "[buffers]\nw = { dtype = \"i32\", shape = " + each.shape +
            ", role = \"weight\", file = \"m.safetensors\", tensor = \"l.{i}\", shard = " +
            each.shard + " }\ny = { dtype = \"i32\", shape = " + each.shape +
            ", role = \"output\" }\n[[steps]]\ncopy = { from = \"w\", to = \"y\" }\n",
        "test.toml", folder_.path());
    EXPECT_EQ(result(program), counted(0, 12));
    expect_none(on_ranks(4, [&](const Device& device, const World& world) {
      Executable executable = Executable::prepare(program, device);
      executable.bind(bindings_of(world));
      executable.run();
      EXPECT_EQ(values<int>(executable.output("y")), each.want[world.rank()]);
    }));
  }
}

// Floats of the file become those of the buffer, if the program says so.
class ConvertedTensorTest : public TensorStackTest {
 protected:
  void write_floats(const std::string& dtype, const std::string& data, int count) {
    const std::string header = "{\"w\":{\"dtype\":\"" + dtype + "\",\"shape\":[" +
                               std::to_string(count) + "],\"data_offsets\":[0," +
                               std::to_string(data.size()) + "]}}";
    const std::uint64_t length = header.size();
    std::ofstream file(folder_.path() / "m.safetensors", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof(length));
    file << header << data;
  }
  Program converting(const std::string& dtype, int count,
                     const std::string& more = ", convert = true") {
    return Program::from_text(
        "[buffers]\nw = { dtype = \"" + dtype + "\", shape = [" + std::to_string(count) +
            "], role = \"weight\", file = \"m.safetensors\", tensor = \"w\"" + more +
            " }\ny = { dtype = \"" + dtype + "\", shape = [" + std::to_string(count) +
            "], role = \"output\" }\n[[steps]]\ncopy = { from = \"w\", to = \"y\" }\n",
        "test.toml", folder_.path());
  }
  template <typename T>
  std::vector<T> result_of(const Program& program) {
    Executable executable = Executable::prepare(program, open_device());
    executable.run();
    return values<T>(executable.output("y"));
  }
  static std::string halves(std::initializer_list<std::uint16_t> bits) {
    return {reinterpret_cast<const char*>(bits.begin()), 2 * bits.size()};
  }
  static std::string singles(std::initializer_list<float> numbers) {
    return {reinterpret_cast<const char*>(numbers.begin()), 4 * numbers.size()};
  }
};

TEST_F(ConvertedTensorTest, WidensAndRounds) {
  write_floats("BF16", halves({0x3F80, 0xC000, 0x7F80, 0x0000}), 4);
  EXPECT_EQ(result_of<float>(converting("f32", 4)),
            (std::vector<float>{1, -2, std::numeric_limits<float>::infinity(), 0}));
  // 1 + 2^-9 lies half-way between two bf16 numbers.
  write_floats("F32", singles({1.001953125F, 1.0078125F, -3}), 3);
  EXPECT_EQ(result_of<std::uint16_t>(converting("bf16", 3)),
            (std::vector<std::uint16_t>{0x3F80, 0x3F81, 0xC040}));
  write_floats("F32", singles({0.5F, 65504}), 2);
  EXPECT_EQ(result_of<std::uint16_t>(converting("f16", 2)),
            (std::vector<std::uint16_t>{0x3800, 0x7BFF}));
  write_floats("F32", singles({7}), 1);
  EXPECT_EQ(result_of<float>(converting("f32", 1)), std::vector<float>{7});
}

TEST_F(ConvertedTensorTest, ManyElementsGoThroughChunks) {
  constexpr int kCount = (5 << 20) + 3;
  std::string data;
  for (int i = 0; i < kCount; ++i) data += halves({static_cast<std::uint16_t>(0x3F80 + i % 100)});
  write_floats("BF16", data, kCount);
  const std::vector<float> got = result_of<float>(converting("f32", kCount));
  for (const int i : {0, 1, 99, 100, (1 << 21) - 1, 1 << 21, kCount - 1}) {
    const std::uint32_t bits = static_cast<std::uint32_t>(0x3F80 + i % 100) << 16;
    float wanted = 0;
    std::memcpy(&wanted, &bits, sizeof wanted);
    EXPECT_EQ(got[static_cast<std::size_t>(i)], wanted) << i;
  }
}

TEST_F(ConvertedTensorTest, ARankConvertsItsPart) {
  write_floats("F32", singles({1, 2, 3, 4, 5, 6}), 6);
  const Program program = Program::from_text(
      "[world]\n[buffers]\nw = { dtype = \"bf16\", shape = [\"6 / ranks\"], role = \"weight\", "
      "file = "
      "\"m.safetensors\", tensor = \"w\", convert = true, shard = { axis = 0 } }\n"
      "y = { dtype = \"bf16\", shape = [\"6 / ranks\"], role = \"output\" }\n"
      "[[steps]]\ncopy = { from = \"w\", to = \"y\" }\n",
      "test.toml", folder_.path());
  const std::vector<std::vector<std::uint16_t>> want = {{0x3F80, 0x4000, 0x4040},
                                                        {0x4080, 0x40A0, 0x40C0}};
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = Executable::prepare(program, device);
    executable.bind(bindings_of(world));
    executable.run();
    EXPECT_EQ(values<std::uint16_t>(executable.output("y")), want[world.rank()]);
  }));
}

TEST_F(ConvertedTensorTest, RefusesWhatDoesNotFit) {
  write_floats("F32", singles({1, 70000}), 2);
  EXPECT_THAT(
      failure(converting("f16", 2)),
      HasSubstr("the element 1 of a tensor of the buffer w is 70000, which f16 does not hold"));
  EXPECT_THAT(failure(converting("f16", 2, "")), HasSubstr("convert = true converts it"));
  EXPECT_THAT(failure(converting("f16", 3)), HasSubstr("is F32 [2], the buffer w wants f16 [3]"));
  write_floats("I32", singles({1, 2}), 2);
  EXPECT_THAT(failure(converting("f32", 2)), HasSubstr("is I32 [2], the buffer w wants f32 [2]"));
  EXPECT_THROW(converting("i32", 2), Error);
}

}  // namespace
}  // namespace baton::session_test::tensor_stack_test
