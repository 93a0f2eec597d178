// Copies of boxes by tensor maps out of shared memory, and reductions.

#include <cstring>

#include "conformance/tensor_map_model.h"

namespace baton::conformance::tensor_map_store_test {
namespace {

TEST_F(TensorMaps, StoresLeaveAloneWhatIsOutside) {
  const auto check = [&](Model box, const Coordinates& wanted) {
    const Coordinates at = aligned(box, wanted);
    const Bytes before = box.memory;
    const Bytes tile = noise(box.extent());
    const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
    const auto bytes = static_cast<unsigned>(tile.size());
    kernel("store_box")
        .launch(config(bytes), encode(box, memory), Buffer<std::uint8_t>::of(device(), tile),
                static_cast<int>(box.rank()), bytes, at);
    Bytes want = before;
    box.each(at, [&](std::size_t place, std::int64_t to) {
      if (to < 0) return;
      for (std::size_t k = 0; k < box.size(); ++k) {
        want.at(static_cast<std::size_t>(to) + k) = tile.at(box.laid_out(place + k));
      }
    });
    EXPECT_NE(want, before);
    EXPECT_EQ(memory.download(), want)
        << box.rank() << " dimensions, " << at.at[0] << ", " << at.at[1];
  };
  check(model({104}, {64}, TensorMapType::kU16), {{50}});
  check(model({96}, {64}, TensorMapType::kU8), {{48}});
  check(model({20, 64}, {8, 64}, TensorMapType::kU16, TensorMapSwizzle::k128B), {{3, 15}});
  check(model({20, 64}, {8, 32}, TensorMapType::kU16, TensorMapSwizzle::k64B), {{48, 0}});
  check(model({20, 64}, {8, 8}, TensorMapType::kU32, TensorMapSwizzle::k32B), {{60, 2}});
  check(model({3, 2, 3, 4, 8}, {2, 2, 2, 3, 4}, TensorMapType::kU32), {{5, 2, 2, 1, 2}});
  Model padded = model({12, 40}, {6, 16}, TensorMapType::kU16);
  padded.options.shape = {11, 32};
  padded.options.strides = {40, 1};
  check(padded, {{24, 7}});
  check(model({20, 64}, {8, 16}, TensorMapType::kU16, TensorMapSwizzle::k128B), {{56, 15}});
  check(model({20, 64}, {8, 4}, TensorMapType::kU32, TensorMapSwizzle::k64B), {{8, 15}});
}

// Stores write whole chunks of 16 bytes: also what comes after a row that ends within one.
TEST_F(TensorMaps, StoresReachTheEndOfAChunk) {
  const auto check = [&](Model box, std::int64_t columns, const Coordinates& at) {
    const std::int64_t unit = 16 / static_cast<std::int64_t>(box.size());
    Model whole = box;
    whole.options.shape.back() = (columns + unit - 1) / unit * unit;
    box.options.strides = whole.options.strides = {box.options.shape.back(), 1};
    box.options.shape.back() = columns;
    const Bytes tile = noise(box.extent());
    const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
    kernel("store_box")
        .launch(config(tile.size()), encode(box, memory), Buffer<std::uint8_t>::of(device(), tile),
                2, static_cast<unsigned>(tile.size()), at);
    Bytes want = box.memory;
    whole.each(at, [&](std::size_t place, std::int64_t to) {
      for (std::size_t k = 0; to >= 0 && k < box.size(); ++k) {
        want.at(static_cast<std::size_t>(to) + k) = tile.at(box.laid_out(place + k));
      }
    });
    EXPECT_NE(want, box.memory);
    EXPECT_EQ(memory.download(), want) << columns << " of " << box.size() << " bytes";
  };
  check(model({12, 40}, {6, 16}, TensorMapType::kU16), 27, {{16, 7}});
  check(model({12, 64}, {6, 32}, TensorMapType::kU8), 34, {{32, 1}});
  check(model({12, 64}, {6, 32}, TensorMapType::kU32, TensorMapSwizzle::k128B), 61, {{32, 1}});
}

TEST_F(TensorMaps, ReductionsIntoATensor) {
  constexpr int kX = 4, kY = 5;
  constexpr std::int64_t kRows = 10, kColumns = 8;
  const auto check = [&](const char* op, TensorMapType type, auto sample, auto combine) {
    using T = decltype(sample);
    Model box = model({kRows, kColumns}, {8, 8}, type);
    std::vector<T> held(kRows * kColumns), given(64);
    for (std::size_t k = 0; k < held.size(); ++k) held[k] = static_cast<T>(3 * k % 41);
    for (std::size_t k = 0; k < given.size(); ++k) given[k] = static_cast<T>(5 * k % 37);
    box.memory.resize(held.size() * sizeof(T));
    std::memcpy(box.memory.data(), held.data(), box.memory.size());
    const auto memory = Buffer<std::uint8_t>::of(device(), box.memory);
    const auto bytes = static_cast<unsigned>(given.size() * sizeof(T));
    kernel("reduce_" + std::string(op))
        .launch(config(bytes), encode(box, memory), Buffer<T>::of(device(), given), bytes, kX, kY);
    std::vector<T> want = held;
    box.each({{kX, kY}}, [&](std::size_t place, std::int64_t to) {
      if (to < 0) return;
      T& target = want[static_cast<std::size_t>(to) / sizeof(T)];
      target = combine(target, given[place / sizeof(T)]);
    });
    const Bytes got = memory.download();
    std::vector<T> values(want.size());
    std::memcpy(values.data(), got.data(), got.size());
    EXPECT_EQ(values, want) << op << " of " << to_string(type);
    EXPECT_NE(values, held);
  };
  const auto sum = [](auto a, auto b) { return a + b; };
  check("add", TensorMapType::kU32, std::uint32_t{}, sum);
  check("add", TensorMapType::kI32, std::int32_t{}, sum);
  check("add", TensorMapType::kU64, std::uint64_t{}, sum);
  check("add", TensorMapType::kF32, float{}, sum);
  check("min", TensorMapType::kI32, std::int32_t{},
        [](std::int32_t a, std::int32_t b) { return std::min(a, b); });
  check("max", TensorMapType::kU32, std::uint32_t{},
        [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  check("inc", TensorMapType::kU32, std::uint32_t{},
        [](std::uint32_t a, std::uint32_t b) { return a >= b ? 0 : a + 1; });
  check("xor", TensorMapType::kU32, std::uint32_t{},
        [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
}

// What the driver itself refuses.

}  // namespace
}  // namespace baton::conformance::tensor_map_store_test
