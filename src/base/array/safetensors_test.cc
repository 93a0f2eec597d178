#include "base/array/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>

#include "base/file/file.h"
#include "baton/error.h"

namespace baton::safetensors_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header + data;
}

// Two tensors and the library's own metadata, as it writes them, padded with spaces.
const std::string kHeader =
    R"({"__metadata__":{"format":"pt"},"b":{"dtype":"BF16","shape":[2,2],"data_offsets":[8,16]},)"
    R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
    R"("none":{"dtype":"I8","shape":[0,3],"data_offsets":[8,8]}}   )";
const std::string kData = "abcdefghijklmnop";

class SafetensorsTest : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& bytes) {
    const auto path = folder_.path() / "m.safetensors";
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  TemporaryDirectory folder_;
};

std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& failure) {
    return failure.message();
  }
  ADD_FAILURE() << "was not refused";
  return "";
}

TEST_F(SafetensorsTest, TensorsAreReadInParts) {
  const SafetensorsFile file(write(file_of(kHeader, kData)));
  EXPECT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors().at("a").dtype, DType::kF32);
  EXPECT_THAT(file.tensors().at("a").shape, ElementsAre(2));
  EXPECT_EQ(file.tensors().at("none").bytes, 0u);
  const SafeTensor& b = file.tensors().at("b");
  EXPECT_EQ(b.dtype, DType::kBF16);
  EXPECT_THAT(b.shape, ElementsAre(2, 2));
  std::string part(3, '\0');
  file.read(b, 2, 3, part.data());
  EXPECT_EQ(part, "klm");
}

TEST_F(SafetensorsTest, OtherTypesKeepTheirName) {
  const SafetensorsFile file(
      write(file_of(R"({"x":{"dtype":"F8_E8M0","shape":[4],"data_offsets":[0,4]}})", "abcd")));
  EXPECT_FALSE(file.tensors().at("x").dtype);
  EXPECT_EQ(file.tensors().at("x").dtype_name, "F8_E8M0");
}

TEST_F(SafetensorsTest, BadFilesAreRefused) {
  const auto refused = [&](const std::string& header, const std::string& data) {
    return failure_of([&] { SafetensorsFile(write(file_of(header, data))); });
  };
  EXPECT_THAT(failure_of([&] { SafetensorsFile(folder_.path() / "absent"); }),
              HasSubstr("cannot read"));
  EXPECT_THAT(failure_of([&] { SafetensorsFile(folder_.path()); }), HasSubstr("regular file"));
  EXPECT_THAT(failure_of([&] { SafetensorsFile(write("short")); }), HasSubstr("it has 5 bytes"));
  EXPECT_THAT(failure_of([&] { SafetensorsFile(write(std::string(16, '\xFF'))); }),
              HasSubstr("its header has 18446744073709551615 bytes, 8 are possible"));
  EXPECT_THAT(refused("{", ""), HasSubstr("this is not JSON"));
  EXPECT_THAT(refused("[]", ""), HasSubstr("must be an object"));
  EXPECT_THAT(refused(R"({"x":{"shape":[],"data_offsets":[0,0]}})", ""), HasSubstr("has no dtype"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}})", ""),
              HasSubstr("must not be negative"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", "abcd"),
              HasSubstr("F32 [2] does not fit its 4 bytes"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})",
                      "abcd"),
              HasSubstr("does not fit its 4 bytes"))
      << "a size that overflows";
  EXPECT_THAT(refused(R"({"x":{"dtype":"I8","shape":[8],"data_offsets":[0,8]}})", "abcd"),
              HasSubstr("not a range of the 4 bytes of data"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"I8","shape":[0],"data_offsets":[3,1]}})", "abcd"),
              HasSubstr("are [3, 1]"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})", "abcd"),
              HasSubstr("begins at byte 2 of the data, the one before it ends at 0"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"I8","shape":[2],"data_offsets":[0,2]}})", "abcd"),
              HasSubstr("the tensors have 2 bytes, the file has 4"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},)"
                      R"("y":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
                      "abcd"),
              HasSubstr("begins at byte 2"));
  EXPECT_THAT(refused(R"({"x":{"dtype":"I8","shape":[4],"data_offsets":[0,4]},)"
                      R"("x":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}})",
                      "abcd"),
              HasSubstr("occurs twice"));
}

TEST_F(SafetensorsTest, AFileThatBecameShorterIsAnError) {
  const auto path = write(file_of(kHeader, kData));
  const SafetensorsFile file(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 2);
  std::string target(8, '\0');
  EXPECT_THAT(failure_of([&] { file.read(file.tensors().at("b"), 0, 8, target.data()); }),
              HasSubstr("it has become shorter"));
}

// Each header that a cut or another byte makes is refused, or says nothing that is out of range.
TEST_F(SafetensorsTest, DamagedHeadersAreHarmless) {
  const std::uint64_t file_bytes = 8 + kHeader.size() + kData.size();
  const auto check = [&](const std::string& header) {
    try {
      for (const auto& [name, tensor] : parse_safetensors_header(header, file_bytes, "m")) {
        EXPECT_LE(tensor.offset, file_bytes);
        EXPECT_LE(tensor.bytes, file_bytes - tensor.offset);
      }
    } catch (const Error&) {
      // Refused.
    }
  };
  for (std::size_t i = 0; i < kHeader.size(); ++i) {
    check(kHeader.substr(0, i));
    for (const char byte : {'\0', '0', '9', '-', '"', '[', '}', '\x80'}) {
      std::string header = kHeader;
      header[i] = byte;
      check(header);
    }
  }
}

}  // namespace
}  // namespace baton::safetensors_test
