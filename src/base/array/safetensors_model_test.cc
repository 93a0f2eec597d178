#include "base/array/safetensors_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/file/held_bytes.h"
#include "base/hash/xxh3.h"
#include "baton/error.h"

namespace baton::safetensors_model_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::kInternal, "");
}

class SafetensorsModelTest : public ::testing::Test {
 protected:
  // A file of u8 tensors of one element each, which are counted from `first` on.
  void write_shard(const std::string& name, const std::vector<std::string>& tensors, char first) {
    std::string header = "{", data;
    for (const std::string& tensor : tensors) {
      header += (data.empty() ? "\"" : ",\"") + tensor +
                R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(data.size()) +
                "," + std::to_string(data.size() + 1) + "]}";
      data += static_cast<char>(first + static_cast<char>(data.size()));
    }
    header += "}";
    const std::uint64_t length = header.size();
    std::string bytes(sizeof(length), '\0');
    std::memcpy(bytes.data(), &length, sizeof(length));
    write_file_atomically(folder_.path() / name, bytes + header + data);
  }

  void write_index(const std::string& map) {
    write_file_atomically(index(), R"({"metadata":{"total_size":3},"weight_map":)" + map + "}");
  }

  std::filesystem::path index() const { return folder_.path() / "model.safetensors.index.json"; }
  std::string path(const char* name) const { return (folder_.path() / name).string(); }

  int value(const SafetensorsModel& model, const char* tensor) {
    const SafetensorsModel::Place place = model.tensor(tensor);
    char read = 0;
    place.file->read(*place.tensor, 0, 1, &read);
    return read;
  }

  TemporaryDirectory folder_;
};

constexpr const char* kTwoShards =
    R"({"a":"1.safetensors","b":"1.safetensors","c":"2.safetensors"})";

TEST_F(SafetensorsModelTest, HasTheTensorsOfAllShards) {
  write_shard("1.safetensors", {"a", "b"}, 10);
  write_shard("2.safetensors", {"c", "extra"}, 20);
  write_index(kTwoShards);
  const SafetensorsModel model(index());
  EXPECT_EQ(value(model, "a"), 10);
  EXPECT_EQ(value(model, "b"), 11);
  EXPECT_EQ(value(model, "c"), 20);
  // The index does not list it.
  const Error failure = failure_of([&] { model.tensor("extra"); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("index.json has no tensor \"extra\""));
}

// Of a bundle: what became shorter after the index may have become so after its check, too.
TEST_F(SafetensorsModelTest, ReadsAHeldIndexFromItsFile) {
  write_shard("1.safetensors", {"a"}, 10);
  const std::string json = R"({"weight_map":{"a":"1.safetensors"}})";
  const auto bundle = folder_.path() / "bundle";
  write_file_atomically(bundle, json + std::string(10'000, ' '));
  const auto file = MappedFile::open(bundle);
  const std::string_view part = file->bytes().substr(0, json.size());
  const auto held = std::make_shared<const HeldBytes>(file, part, xxh3(part), index().string(),
                                                      HeldBytes::Keep::kMapped);
  const auto shard = [&](const std::string& name) {
    const auto whole = MappedFile::open(folder_.path() / name);
    const std::string_view bytes = whole->bytes();
    return std::make_shared<const HeldBytes>(whole, bytes, xxh3(bytes), name);
  };
  std::filesystem::resize_file(bundle, json.size());
  EXPECT_EQ(value(SafetensorsModel(held, shard), "a"), 10);
  std::filesystem::resize_file(bundle, 10);
  EXPECT_THAT(failure_of([&] { SafetensorsModel(held, shard); }).message(), HasSubstr("10 bytes"));
}

TEST_F(SafetensorsModelTest, IsOneFileToo) {
  write_shard("1.safetensors", {"aa", "bb"}, 10);
  const SafetensorsModel model(folder_.path() / "1.safetensors");
  EXPECT_EQ(value(model, "bb"), 11);
  EXPECT_THAT(failure_of([&] { model.tensor("bbb"); }).message(),
              HasSubstr("1.safetensors has no tensor \"bbb\"; did you mean \"bb\"?"));
}

TEST_F(SafetensorsModelTest, AMissingShardIsNamed) {
  write_shard("1.safetensors", {"a", "b"}, 10);
  write_index(kTwoShards);
  const Error failure = failure_of([&] { SafetensorsModel{index()}; });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("cannot read " + path("2.safetensors")));
  EXPECT_THAT(failure.message(),
              HasSubstr(index().string() + " names it as a shard: put it there"));
}

TEST_F(SafetensorsModelTest, ATensorOfTwoShardsIsRefused) {
  write_shard("1.safetensors", {"a", "b"}, 10);
  write_shard("2.safetensors", {"a", "c"}, 20);
  write_index(kTwoShards);
  const Error failure = failure_of([&] { SafetensorsModel{index()}; });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_EQ(failure.message(), "the tensor \"a\" is in two shards of " + index().string() +
                                   ", \"1.safetensors\" and \"2.safetensors\"; a model has each "
                                   "tensor once");
}

TEST_F(SafetensorsModelTest, ATensorThatItsShardLacksIsNamed) {
  write_shard("1.safetensors", {"a"}, 10);
  write_shard("2.safetensors", {"c"}, 20);
  write_index(kTwoShards);
  EXPECT_THAT(
      failure_of([&] { SafetensorsModel{index()}; }).message(),
      HasSubstr("says that the tensor \"b\" is in \"1.safetensors\", which does not have it"));
  write_shard("2.safetensors", {"c", "b"}, 20);
  EXPECT_THAT(failure_of([&] { SafetensorsModel{index()}; }).message(),
              HasSubstr("which does not have it; \"2.safetensors\" has it"));
}

TEST_F(SafetensorsModelTest, AWrongIndexIsRefused) {
  write_shard("1.safetensors", {"a"}, 10);
  const auto message = [&](const std::string& map) {
    write_index(map);
    return failure_of([&] { SafetensorsModel{index()}; }).message();
  };
  EXPECT_THAT(message("{}"), HasSubstr("weight_map has no tensors"));
  EXPECT_THAT(message("[]"), HasSubstr("weight_map"));
  EXPECT_THAT(message(R"({"a":1})"), HasSubstr("weight_map.a"));
  EXPECT_THAT(message(R"({"a":"1.safetensors","a":"1.safetensors"})"), HasSubstr("\"a\""));
  for (const char* elsewhere : {"../1.safetensors", "/etc/1.safetensors", "sub/"}) {
    EXPECT_THAT(message(std::string(R"({"a":")") + elsewhere + "\"}"),
                HasSubstr("and a shard lies in the folder of its index"));
  }
  write_file_atomically(index(), "{}");
  EXPECT_THAT(failure_of([&] { SafetensorsModel{index()}; }).message(),
              HasSubstr("is not an index of .safetensors files: it has no \"weight_map\""));
}

}  // namespace
}  // namespace baton::safetensors_model_test
