// Copies of boxes by tensor maps into shared memory, and what the driver takes as a map.

#include <cuda.h>

#include <cmath>
#include <cstring>

#include "conformance/tensor_map_model.h"
#include "driver/driver.h"

namespace baton::conformance::tensor_map_test {
namespace {

TEST_F(TensorMaps, BoxesOfEveryRank) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {100}, {9, 20}, {5, 6, 12}, {3, 4, 5, 8}, {3, 2, 3, 4, 8}};
  const std::vector<std::vector<std::int64_t>> boxes = {
      {64}, {8, 16}, {3, 4, 8}, {2, 3, 4, 4}, {2, 2, 2, 3, 4}};
  for (std::size_t k = 0; k < shapes.size(); ++k) {
    SCOPED_TRACE(shapes[k].size());
    const Model each = model(shapes[k], boxes[k], TensorMapType::kU32);
    expect_loaded(each, {});
    expect_loaded(each, {{1, 1, 1, 1, 1}});
    // Over each of the edges, below and above.
    for (std::size_t d = 0; d < shapes[k].size(); ++d) {
      Coordinates at;
      at.at[d] = -2;
      expect_loaded(each, at);
      at.at[d] = static_cast<int>(shapes[k][shapes[k].size() - 1 - d]) - 1;
      expect_loaded(each, at);
    }
    expect_loaded(each, {{-3, -1, -1, -1, -1}});
    expect_loaded(each, {{1000, 0, 0, 0, 0}});
    expect_loaded(each, {{-1000, 0, 0, 0, 0}});
  }
}

TEST_F(TensorMaps, EverySwizzle) {
  struct Case {
    TensorMapType type;
    TensorMapSwizzle swizzle;
    std::int64_t columns;
  };
  for (const Case& each : {
           Case{TensorMapType::kF16, TensorMapSwizzle::k32B, 16},
           Case{TensorMapType::kF16, TensorMapSwizzle::k64B, 32},
           Case{TensorMapType::kF16, TensorMapSwizzle::k128B, 64},
           Case{TensorMapType::kU8, TensorMapSwizzle::k128B, 128},
           Case{TensorMapType::kF32, TensorMapSwizzle::k64B, 16},
           Case{TensorMapType::kU64, TensorMapSwizzle::k32B, 4},
       }) {
    for (const std::int64_t rows : {64, 33, 5}) {
      // A tile ends with a line of 128 bytes here; other ones are below.
      if (rows * each.columns * static_cast<std::int64_t>(size_of(each.type)) % 128 != 0) continue;
      const Model box =
          model({80, 2 * each.columns}, {rows, each.columns}, each.type, each.swizzle);
      expect_loaded(box, {});
      expect_loaded(box, {{3, 2}});
      expect_loaded(box, {{-1, -4}});
      expect_loaded(box, {{static_cast<int>(each.columns) + 1, 70}});
    }
  }
}

// What is swizzled is the address, not the place in the tile.
TEST_F(TensorMaps, SwizzlesOfTilesAnywhere) {
  for (const unsigned shift : {128u, 384u, 896u}) {
    expect_loaded(model({64, 128}, {16, 64}, TensorMapType::kF16, TensorMapSwizzle::k128B),
                  {{4, 3}}, shift);
    expect_loaded(model({64, 128}, {16, 32}, TensorMapType::kF16, TensorMapSwizzle::k64B), {{4, 3}},
                  shift);
  }
}

TEST_F(TensorMaps, NarrowRowsTakeAWholeSpanEach) {
  const auto check = [&](Model box, const Coordinates& at) {
    const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
    const Buffer<std::uint8_t> out(device(), box.extent());
    kernel("load_narrow")
        .launch(config(box.extent()), encode(box, memory), out,
                static_cast<unsigned>(box.tile_bytes()), static_cast<unsigned>(box.extent()),
                at.at[0], at.at[1]);
    const Bytes got = out.download();
    std::size_t wrong = 0;
    box.each(at, [&](std::size_t place, std::int64_t from) {
      for (std::size_t k = 0; k < box.size(); ++k) {
        const std::uint8_t want =
            from < 0 ? kOutside : box.memory.at(static_cast<std::size_t>(from) + k);
        if (got.at(box.laid_out(place + k)) != want) ++wrong;
      }
    });
    EXPECT_EQ(wrong, 0u) << box.row() << " of " << box.pitch() << " bytes";
  };
  check(model({64, 64}, {32, 32}, TensorMapType::kF16, TensorMapSwizzle::k128B), {{8, 1}});
  check(model({64, 64}, {32, 8}, TensorMapType::kF16, TensorMapSwizzle::k128B), {{-8, 50}});
  check(model({64, 64}, {32, 8}, TensorMapType::kF16, TensorMapSwizzle::k64B), {{8, 1}});
  check(model({64, 64}, {32, 12}, TensorMapType::kU32, TensorMapSwizzle::k64B), {{4, 1}});
  check(model({64, 64}, {32, 4}, TensorMapType::kU32, TensorMapSwizzle::k32B), {{60, -2}});
}

TEST_F(TensorMaps, EveryType) {
  for (const TensorMapType type :
       {TensorMapType::kU8, TensorMapType::kU16, TensorMapType::kU32, TensorMapType::kI32,
        TensorMapType::kU64, TensorMapType::kI64, TensorMapType::kF16, TensorMapType::kF32,
        TensorMapType::kF64, TensorMapType::kBF16}) {
    const auto columns = static_cast<std::int64_t>(32 / size_of(type));
    Model each = model({10, 4 * columns}, {8, columns}, type);
    if (type == TensorMapType::kF32 || type == TensorMapType::kF64 || type == TensorMapType::kF16 ||
        type == TensorMapType::kBF16) {
      // No NaN: whether those keep their bits is not looked at here.
      for (std::size_t k = size_of(type) - 1; k < each.memory.size(); k += size_of(type)) {
        each.memory[k] = static_cast<std::uint8_t>(each.memory[k] & 0x3f);
      }
    }
    expect_loaded(each, {{1, 1}});
    expect_loaded(each, {{-1, 4}});
    expect_loaded(each, {{static_cast<int>(3 * columns + 1), -3}});
  }
}

TEST_F(TensorMaps, NanOutside) {
  for (const TensorMapType type :
       {TensorMapType::kF16, TensorMapType::kBF16, TensorMapType::kF32, TensorMapType::kF64}) {
    const auto columns = static_cast<std::int64_t>(32 / size_of(type));
    Model each = model({4, columns}, {4, columns}, type);
    for (std::uint8_t& byte : each.memory) byte &= 0x3f;
    each.options.oob_fill = TensorMapFill::kNan;
    const Coordinates at{{static_cast<int>(columns) / 2, 1}};
    const Bytes got = loaded(each, at);
    each.each(at, [&](std::size_t place, std::int64_t from) {
      if (from >= 0) {
        EXPECT_TRUE(std::equal(got.begin() + static_cast<std::ptrdiff_t>(place),
                               got.begin() + static_cast<std::ptrdiff_t>(place + each.size()),
                               each.memory.begin() + from));
        return;
      }
      std::uint64_t bits = 0;
      std::memcpy(&bits, got.data() + place, each.size());
      const unsigned mantissa = type == TensorMapType::kF16    ? 10
                                : type == TensorMapType::kBF16 ? 7
                                : type == TensorMapType::kF32  ? 23
                                                               : 52;
      const unsigned width = static_cast<unsigned>(8 * each.size()) - 1;
      const std::uint64_t infinity = ((std::uint64_t{1} << (width - mantissa)) - 1) << mantissa;
      EXPECT_GT(bits & ((std::uint64_t{1} << width) - 1), infinity) << to_string(type);
    });
  }
}

std::vector<float> floats(const Bytes& bytes) {
  std::vector<float> result(bytes.size() / sizeof(float));
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

TEST_F(TensorMaps, FloatsThatAreRoundedOrFlushed) {
  std::vector<float> values = {1.0f,
                               1.0f + 0x1p-11f + 0x1p-23f,
                               -3.14159274f,
                               1e-30f,
                               0x1p-130f,
                               -0x1p-149f,
                               0.1f,
                               65504.0f,
                               0.0f,
                               -1.5f,
                               123456.789f,
                               1e30f,
                               1.0f + 0x1p-11f - 0x1p-23f,
                               2.0f,
                               -0.0f,
                               7.25f};
  const auto of = [&](TensorMapType type) {
    Model row = model({16}, {16}, type);
    std::memcpy(row.memory.data(), values.data(), row.memory.size());
    return floats(loaded(row, {}));
  };
  const std::vector<float> plain = of(TensorMapType::kF32);
  const std::vector<float> flushed = of(TensorMapType::kF32Ftz);
  const std::vector<float> rounded = of(TensorMapType::kTF32);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const bool subnormal = std::fpclassify(values[k]) == FP_SUBNORMAL;
    EXPECT_EQ(plain[k], values[k]);
    EXPECT_EQ(flushed[k], values[k]);  // an H200 keeps subnormals that it loads
    if (subnormal) continue;
    // tf32 has 10 bits of fraction.
    const float unit = std::ldexp(1.0f, std::ilogb(values[k] == 0 ? 1.0f : values[k]) - 10);
    EXPECT_LE(std::abs(rounded[k] - values[k]), unit / 2) << values[k];
    EXPECT_EQ(std::fmod(rounded[k], unit), 0.0f) << rounded[k];
  }
}

TEST_F(TensorMaps, StridesBetweenRowsAndElements) {
  Model padded = model({12, 40}, {6, 16}, TensorMapType::kU16);
  padded.options.shape = {11, 27};  // of rows of 40
  padded.options.strides = {40, 1};
  expect_loaded(padded, {{3, 2}});
  expect_loaded(padded, {{15, 8}});

  Model transposed = model({8, 6, 16}, {3, 4, 8}, TensorMapType::kU32);
  transposed.options.shape = {6, 8, 16};
  transposed.options.strides = {16, 96, 1};
  expect_loaded(transposed, {{5, 3, 2}});

  Model repeated = model({1, 16}, {4, 16}, TensorMapType::kU32);
  repeated.options.shape = {4, 16};
  repeated.options.strides = {0, 1};
  expect_loaded(repeated, {});

  Model stepped = model({30, 9, 16}, {9, 5, 8}, TensorMapType::kU32);
  stepped.options.element_strides = {4, 2, 1};
  expect_loaded(stepped, {{2, 1, 3}});
  expect_loaded(stepped, {{-1, -3, 25}});
}

TEST_F(TensorMaps, OneBoxForManyBlocks) {
  constexpr unsigned kRanks = 4, kClusters = 2;
  Model box = model({40, 64}, {16, 64}, TensorMapType::kF16, TensorMapSwizzle::k128B);
  const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
  const auto bytes = static_cast<unsigned>(box.tile_bytes());
  const Buffer<std::uint8_t> out(device(), std::size_t{kRanks} * kClusters * bytes);
  kernel("load_for_many")
      .launch(config(bytes, kRanks * kClusters), encode(box, memory), out, bytes, 8, 30);
  const Bytes got = out.download();
  const Bytes want = box.tile({{8, 30}});
  for (unsigned block = 0; block < kRanks * kClusters; ++block) {
    const Bytes part(got.begin() + block * bytes, got.begin() + (block + 1) * bytes);
    EXPECT_EQ(part, block % kRanks == 2 ? Bytes(bytes, 0xee) : want) << block;
  }
}

TEST_F(TensorMaps, MapsInGlobalMemory) {
  Model box = model({20, 32}, {8, 16}, TensorMapType::kU32);
  const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
  const TensorMap map = encode(box, memory);
  std::vector<std::uint8_t> words(sizeof(map));
  std::memcpy(words.data(), map.bytes(), sizeof(map));
  const auto bytes = static_cast<unsigned>(box.tile_bytes());
  const Buffer<std::uint8_t> out(device(), bytes);
  kernel("load_box_behind")
      .launch(config(bytes), Buffer<std::uint8_t>::of(device(), words), out, 2, bytes,
              Coordinates{{8, 15}});
  EXPECT_EQ(out.download(), box.tile({{8, 15}}));
}

TEST_F(TensorMaps, PrefetchesChangeNothing) {
  Model box = model({20, 32}, {8, 16}, TensorMapType::kU32);
  const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
  const auto bytes = static_cast<unsigned>(box.tile_bytes());
  const Buffer<std::uint8_t> out(device(), bytes);
  kernel("prefetch_box").launch(config(bytes), encode(box, memory), out, bytes, -4, 17);
  EXPECT_EQ(out.download(), box.tile({{-4, 17}}));
}

TEST_F(TensorMaps, LimitsOfTheDriver) {
  const driver::Driver& driver = device().driver();
  struct Call {
    CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    cuuint32_t rank = 3;
    std::uint64_t address = 0;  // added to the buffer's
    cuuint64_t extents[5] = {64, 32, 16, 1, 1};
    cuuint64_t strides[4] = {128, 4096, 65536, 65536};
    cuuint32_t box[5] = {64, 8, 2, 1, 1};
    cuuint32_t element_strides[5] = {1, 1, 1, 1, 1};
    CUtensorMapInterleave interleave = CU_TENSOR_MAP_INTERLEAVE_NONE;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_NONE;
    CUtensorMapFloatOOBfill fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  };
  const Buffer<std::uint8_t> memory(device(), 1 << 16);
  device().synchronize();
  const auto result = [&](auto change) {
    Call call;
    change(call);
    CUtensorMap map;
    return driver.cuTensorMapEncodeTiled(
        &map, call.type, call.rank,
        reinterpret_cast<void*>(memory.memory().address() + call.address), call.extents,
        call.strides, call.box, call.element_strides, call.interleave, call.swizzle, call.promotion,
        call.fill);
  };
  ASSERT_EQ(driver.cuCtxPushCurrent(device().native_context()), CUDA_SUCCESS);
  EXPECT_EQ(result([](Call&) {}), CUDA_SUCCESS);
  EXPECT_EQ(result([](Call& c) { c.extents[1] = cuuint64_t{1} << 32; }), CUDA_SUCCESS);
  EXPECT_EQ(result([](Call& c) { c.strides[1] = (cuuint64_t{1} << 40) - 16; }), CUDA_SUCCESS);
  EXPECT_EQ(result([](Call& c) { c.strides[1] = 0; }), CUDA_SUCCESS);
  EXPECT_EQ(result([](Call& c) { c.element_strides[0] = 2; }), CUDA_SUCCESS) << "is ignored";
  EXPECT_EQ(result([](Call& c) { c.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA; }),
            CUDA_SUCCESS);
  const std::vector<std::pair<const char*, void (*)(Call&)>> wrong = {
      {"rank 0", [](Call& c) { c.rank = 0; }},
      {"rank 6", [](Call& c) { c.rank = 6; }},
      {"address", [](Call& c) { c.address = 8; }},
      {"extent 0", [](Call& c) { c.extents[1] = 0; }},
      {"extent", [](Call& c) { c.extents[1] = (cuuint64_t{1} << 32) + 1; }},
      {"stride", [](Call& c) { c.strides[0] = 136; }},
      {"stride too large", [](Call& c) { c.strides[1] = cuuint64_t{1} << 40; }},
      {"box 0", [](Call& c) { c.box[1] = 0; }},
      {"box 257", [](Call& c) { c.box[1] = 257; }},
      {"inner box", [](Call& c) { c.box[0] = 60; }},
      {"inner box against the swizzle", [](Call& c) { c.swizzle = CU_TENSOR_MAP_SWIZZLE_64B; }},
      {"element stride 0", [](Call& c) { c.element_strides[1] = 0; }},
      {"element stride 9", [](Call& c) { c.element_strides[1] = 9; }},
      {"NaN of integers",
       [](Call& c) {
         c.type = CU_TENSOR_MAP_DATA_TYPE_UINT16;
         c.fill = CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
       }},
      {"interleave of two dimensions",
       [](Call& c) {
         c.rank = 2;
         c.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
       }},
  };
  for (const auto& [name, change] : wrong) {
    EXPECT_EQ(result(change), CUDA_ERROR_INVALID_VALUE) << name;
  }
  CUcontext popped = nullptr;
  EXPECT_EQ(driver.cuCtxPopCurrent(&popped), CUDA_SUCCESS);
}

}  // namespace
}  // namespace baton::conformance::tensor_map_test
