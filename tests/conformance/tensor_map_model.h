#pragma once

// A tensor and a box of it as the documentation describes them, and a fixture that holds copies by
// tensor maps against that.

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "baton/tensor_map.h"
#include "conformance/conformance.h"

namespace baton::conformance {

using Bytes = std::vector<std::uint8_t>;

struct Coordinates {
  int at[5] = {};  // the innermost first
};

inline constexpr unsigned kThreads = 64;
inline constexpr unsigned kRepeat = 1024;  // bytes after which every swizzle begins again
inline constexpr std::uint8_t kOutside = 0;

// A tensor in host memory and a box of it, as the documentation describes them.
struct Model {
  TensorMapOptions options;
  Bytes memory;  // what stands at the map's address

  std::size_t rank() const { return options.shape.size(); }
  std::size_t size() const { return size_of(options.type); }
  std::int64_t step(std::size_t k) const {
    return options.element_strides.empty() ? 1 : options.element_strides[k];
  }
  std::int64_t count(std::size_t k) const { return (options.box[k] + step(k) - 1) / step(k); }
  std::int64_t stride(std::size_t k) const {
    if (!options.strides.empty()) return options.strides[k];
    std::int64_t stride = 1;
    for (std::size_t inner = k + 1; inner < rank(); ++inner) stride *= options.shape[inner];
    return stride;
  }
  std::size_t tile_bytes() const {
    std::size_t bytes = size();
    for (std::size_t k = 0; k < rank(); ++k) bytes *= static_cast<std::size_t>(count(k));
    return bytes;
  }

  // Rows narrower than the span of the swizzle take a whole span each of shared memory.
  std::size_t row() const { return static_cast<std::size_t>(options.box.back()) * size(); }
  std::size_t pitch() const {
    const auto mode = static_cast<unsigned>(options.swizzle);
    return mode == 0 ? row() : std::size_t{16} << mode;
  }
  std::size_t extent() const { return tile_bytes() / row() * pitch(); }
  std::size_t laid_out(std::size_t at) const { return swizzled(at / row() * pitch() + at % row()); }

  // Calls visit(place in the tile, place in memory or -1), in bytes, for each element of the box.
  template <typename Visit>
  void each(const Coordinates& coordinates, Visit visit) const {
    std::vector<std::int64_t> index(rank());
    const std::size_t elements = tile_bytes() / size();
    for (std::size_t e = 0; e < elements; ++e) {
      std::size_t left = e;
      std::int64_t place = 0;
      bool inside = true;
      for (std::size_t k = rank(); k-- > 0;) {
        const auto here = static_cast<std::int64_t>(left) % count(k);
        left /= static_cast<std::size_t>(count(k));
        const std::int64_t at = coordinates.at[rank() - 1 - k] + here * step(k);
        inside = inside && at >= 0 && at < options.shape[k];
        place += at * stride(k);
      }
      visit(e * size(), inside ? place * static_cast<std::int64_t>(size()) : -1);
    }
  }

  // Where a byte of the tile lies in shared memory, from a multiple of kRepeat on: bits 4 to 6 are
  // exclusive-ored with bits 7 to 9, as many as the swizzle has.
  std::size_t swizzled(std::size_t at) const {
    const auto mode = static_cast<unsigned>(options.swizzle);  // none, 32, 64, 128 bytes
    return at ^ ((at >> 7 & ((1u << mode) - 1)) << 4);
  }

  Bytes tile(const Coordinates& coordinates, std::size_t shift = 0) const {
    Bytes result(tile_bytes());
    each(coordinates, [&](std::size_t at, std::int64_t from) {
      for (std::size_t k = 0; k < size(); ++k) {
        result.at(swizzled(at + k + shift) - shift) =
            from < 0 ? kOutside : memory.at(static_cast<std::size_t>(from) + k);
      }
    });
    return result;
  }
};

class TensorMaps : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
    module_ = std::make_unique<Module>(load("tensor_maps.cu"));
  }

  // Bytes of which none is as others near it, or that of no element.
  static Bytes noise(std::size_t count) {
    Bytes bytes(count);
    std::uint32_t state = 1;
    for (std::uint8_t& byte : bytes) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<std::uint8_t>(1 + (state >> 24) % 255);
    }
    return bytes;
  }

  static Model model(std::vector<std::int64_t> shape, std::vector<std::int64_t> box,
                     TensorMapType type, TensorMapSwizzle swizzle = TensorMapSwizzle::kNone) {
    Model result;
    result.options.type = type;
    result.options.box = std::move(box);
    result.options.swizzle = swizzle;
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) elements *= extent;
    result.options.shape = std::move(shape);
    result.memory = noise(static_cast<std::size_t>(elements) * size_of(type));
    return result;
  }

  Kernel kernel(std::string_view name) const { return module_->kernel(name); }

  TensorMap encode(Model& model, const Buffer<std::uint8_t>& memory) const {
    model.options.address = memory.memory().address();
    return TensorMap::encode(device(), model.options);
  }

  LaunchConfig config(std::size_t bytes, unsigned grid = 1) const {
    return {
        .grid = grid, .block = kThreads, .shared = static_cast<std::uint32_t>(bytes + 2 * kRepeat)};
  }

  // A box begins at a multiple of 16 bytes: else the copy is an illegal instruction to an H200.
  static Coordinates aligned(const Model& box, Coordinates at) {
    const int unit = std::max(1, 16 / static_cast<int>(box.size()));
    const int past = (at.at[0] % unit + unit) % unit;
    at.at[0] -= past;
    return at;
  }

  Bytes loaded(Model& model, const Coordinates& at, unsigned shift = 0) const {
    const auto memory = Buffer<std::uint8_t>::of(device(), model.memory);
    const Buffer<std::uint8_t> out(device(), model.tile_bytes());
    const auto bytes = static_cast<unsigned>(model.tile_bytes());
    kernel("load_box")
        .launch(config(bytes), encode(model, memory), out, static_cast<int>(model.rank()), bytes,
                at, shift);
    return out.download();
  }

  void expect_loaded(Model model, const Coordinates& wanted, unsigned shift = 0) const {
    const Coordinates at = aligned(model, wanted);
    const Bytes got = loaded(model, at, shift);
    const Bytes want = model.tile(at, shift);
    ASSERT_EQ(got.size(), want.size());
    const auto differs = std::mismatch(got.begin(), got.end(), want.begin());
    EXPECT_EQ(differs.first, got.end())
        << "byte " << differs.first - got.begin() << " is " << int{*differs.first} << ", not "
        << int{*differs.second} << "; type " << to_string(model.options.type) << ", swizzle "
        << to_string(model.options.swizzle) << ", at (" << at.at[0] << ", " << at.at[1] << ", "
        << at.at[2] << ", " << at.at[3] << ", " << at.at[4] << ")";
  }

 private:
  std::unique_ptr<Module> module_;
};

}  // namespace baton::conformance
