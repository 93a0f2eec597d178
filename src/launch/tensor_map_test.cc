#include "baton/tensor_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "baton/device.h"
#include "baton/error.h"
#include "launch/tensor_map_limits.h"

namespace baton::tensor_map_test {
namespace {

using testing::HasSubstr;

// A matrix of 64 rows of 128 halves, of which a copy moves 32 rows of 64.
TensorMapOptions good() {
  TensorMapOptions options;
  options.type = TensorMapType::kF16;
  options.address = 0x1000;
  options.shape = {64, 128};
  options.box = {32, 64};
  options.swizzle = TensorMapSwizzle::k128B;
  return options;
}

struct Wrong {
  const char* message;
  std::function<void(TensorMapOptions&)> change;
};

TEST(TensorMapLimits, HoldEachWithBothNumbers) {
  using Options = TensorMapOptions;
  const auto none = [](Options& o) { o.swizzle = TensorMapSwizzle::kNone; };
  const Wrong kWrong[] = {
      {"shape has 0 dimensions, it must have 1 to 5", [](Options& o) { o.shape = {}; }},
      {"shape has 6 dimensions, it must have 1 to 5",
       [](Options& o) { o.shape = {1, 1, 1, 1, 1, 64}; }},
      {"shape[0] is 0, it must be 1 to 4294967296", [](Options& o) { o.shape[0] = 0; }},
      {"shape[1] is 4294967297, it must be 1 to 4294967296",
       [](Options& o) { o.shape[1] = (std::int64_t{1} << 32) + 1; }},
      {"strides has 1 extents, its shape has 2", [](Options& o) { o.strides = {1}; }},
      {"strides[1] is 2, that of the innermost dimension must be 1",
       [](Options& o) {
         o.strides = {256, 2};
       }},
      {"strides[0] is 132 elements, 264 bytes, it must be a multiple of 16 bytes",
       [](Options& o) {
         o.strides = {132, 1};
       }},
      {"strides[0] is 100 elements, 200 bytes, it must be a multiple of 16 bytes; its dimensions",
       [](Options& o) {
         o.shape = {64, 100};
       }},
      {"strides[0] is -8 elements of 2 bytes, it must be 0 to 1099511627775 bytes",
       [](Options& o) {
         o.strides = {-8, 1};
       }},
      {"strides[0] is 549755813888 elements of 2 bytes",
       [](Options& o) {
         o.strides = {std::int64_t{1} << 39, 1};
       }},
      {"shape has more elements than 64 bits count",
       [](Options& o) {
         o.shape = {1, std::int64_t{1} << 32, std::int64_t{1} << 32};
         o.box = {1, 1, 64};
       }},
      {"box has 1 extents, its shape has 2", [](Options& o) { o.box = {64}; }},
      {"box[0] is 257, it must be 1 to 256", [](Options& o) { o.box[0] = 257; }},
      {"box[0] is 0, it must be 1 to 256", [](Options& o) { o.box[0] = 0; }},
      {"box[0] is -9223372036854775808, it must be",
       [](Options& o) { o.box[0] = std::numeric_limits<std::int64_t>::min(); }},
      {"box[1] is 60 elements, 120 bytes, it must be a multiple of 16 bytes",
       [](Options& o) { o.box[1] = 60; }},
      {"box[1] is 128 elements, 256 bytes, the most with swizzle 128b is 128 bytes",
       [](Options& o) { o.box[1] = 128; }},
      {"box[1] is 64 elements, 128 bytes, the most with swizzle 32b is 32 bytes",
       [](Options& o) { o.swizzle = TensorMapSwizzle::k32B; }},
      {"element_strides[0] is 9, it must be 1 to 8",
       [](Options& o) {
         o.element_strides = {9, 1};
       }},
      {"element_strides[1] is 2, that of the innermost dimension must be 1",
       [](Options& o) {
         o.element_strides = {1, 2};
       }},
      {"shape has 2 dimensions, with interleave 16b it must have 3 to 5",
       [](Options& o) { o.interleave = TensorMapInterleave::k16B; }},
      {"swizzle is none, with interleave 32b it must be 32b",
       [&](Options& o) {
         none(o);
         o.interleave = TensorMapInterleave::k32B;
         o.shape = {1, 64, 128};
       }},
      {"oob_fill is nan, its type u16 is not a floating type",
       [](Options& o) {
         o.type = TensorMapType::kU16;
         o.oob_fill = TensorMapFill::kNan;
       }},
      {"address is aligned to 8 bytes, it must be to 16", [](Options& o) { o.address = 0x1008; }},
      {"swizzle 128b_atom_32b needs compute capability 10.0, the device has 9.0",
       [](Options& o) { o.swizzle = TensorMapSwizzle::k128BAtom32B; }},
  };
  EXPECT_NO_THROW(launch::check(good(), 90));
  for (const Wrong& wrong : kWrong) {
    TensorMapOptions options = good();
    wrong.change(options);
    try {
      launch::check(options, 90);
      ADD_FAILURE() << wrong.message << ": was not refused";
    } catch (const Error& failure) {
      EXPECT_THAT(failure.message(), HasSubstr(wrong.message));
    }
  }
}

TEST(TensorMapLimits, TakeWhatIsJustWithin) {
  TensorMapOptions options;
  options.type = TensorMapType::kU8;
  options.shape = {2, 3, 4, std::int64_t{1} << 32, 256};
  options.strides = {0, (std::int64_t{1} << 40) - 16, 16, 256, 1};
  options.box = {1, 1, 1, 256, 256};
  options.element_strides = {8, 8, 8, 8, 1};
  EXPECT_NO_THROW(launch::check(options, 90));
  options = good();
  options.shape = {3};
  options.box = {8};
  EXPECT_NO_THROW(launch::check(options, 90)) << "an extent needs no alignment";
}

TEST(TensorMapLimits, ReachOfATensor) {
  TensorMapOptions options = good();
  EXPECT_NO_THROW(launch::check_reach(options, 64 * 128));
  EXPECT_THROW(launch::check_reach(options, 64 * 128 - 1), Error);
  options.strides = {256, 1};
  EXPECT_NO_THROW(launch::check_reach(options, 63 * 256 + 128));
  EXPECT_THROW(launch::check_reach(options, 63 * 256 + 127), Error);
  options.strides = {0, 1};
  EXPECT_NO_THROW(launch::check_reach(options, 128));
  options.shape = {std::int64_t{1} << 32, 128};
  options.strides = {std::int64_t{1} << 39, 1};
  EXPECT_THROW(launch::check_reach(options, INT64_MAX), Error) << "beyond 64 bits";
}

TEST(TensorMap, IsEncodedByTheDriver) {
  const Device device = Device::open("sim");
  const auto bytes_of = [&](const TensorMapOptions& options) {
    const TensorMap map = TensorMap::encode(device, options);
    return std::string(reinterpret_cast<const char*>(map.bytes()), sizeof(map));
  };
  EXPECT_EQ(bytes_of(good()), bytes_of(good()));
  EXPECT_NE(bytes_of(good()), std::string(128, '\0'));
  TensorMapOptions moved = good();
  moved.address += 16;
  EXPECT_NE(bytes_of(good()), bytes_of(moved));
  TensorMapOptions dense = good();
  dense.strides = {128, 1};
  dense.element_strides = {1, 1};
  EXPECT_EQ(bytes_of(good()), bytes_of(dense)) << "what is left out";
  dense.box[0] = 0;
  EXPECT_THROW(bytes_of(dense), Error);
}

TEST(TensorMap, WordsOfItsEnumerations) {
  EXPECT_EQ(to_string(TensorMapType::kTF32Ftz), "tf32_ftz");
  EXPECT_EQ(to_string(TensorMapInterleave::k32B), "32b");
  EXPECT_EQ(to_string(TensorMapSwizzle::k128BAtom64B), "128b_atom_64b");
  EXPECT_EQ(to_string(TensorMapL2Promotion::k256B), "256b");
  EXPECT_EQ(to_string(TensorMapFill::kNan), "nan");
  for (const std::string_view name : dtype_names()) {
    const DType dtype = *parse_dtype(name);
    EXPECT_EQ(size_of(tensor_map_type(dtype)), size_of(dtype)) << name;
  }
  const std::pair<DType, TensorMapType> types[] = {
      {DType::kF16, TensorMapType::kF16},   {DType::kBF16, TensorMapType::kBF16},
      {DType::kF32, TensorMapType::kF32},   {DType::kF64, TensorMapType::kF64},
      {DType::kF8E4M3, TensorMapType::kU8}, {DType::kF8E5M2, TensorMapType::kU8},
      {DType::kBool, TensorMapType::kU8},   {DType::kI8, TensorMapType::kU8},
      {DType::kU8, TensorMapType::kU8},     {DType::kI16, TensorMapType::kU16},
      {DType::kU16, TensorMapType::kU16},   {DType::kI32, TensorMapType::kI32},
      {DType::kU32, TensorMapType::kU32},   {DType::kI64, TensorMapType::kI64},
      {DType::kU64, TensorMapType::kU64}};
  EXPECT_EQ(std::size(types), dtype_names().size()) << "a dtype is missing";
  for (const auto& [dtype, type] : types)
    EXPECT_EQ(tensor_map_type(dtype), type) << to_string(dtype);
}

}  // namespace
}  // namespace baton::tensor_map_test
