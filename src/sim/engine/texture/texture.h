#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace baton::sim {

enum class TexelType : std::uint8_t { kU8, kU16, kU32, kS8, kS16, kS32, kF16, kF32 };
constexpr unsigned bytes_of(TexelType type) {
  switch (type) {
    case TexelType::kU8:
    case TexelType::kS8:
      return 1;
    case TexelType::kU16:
    case TexelType::kS16:
    case TexelType::kF16:
      return 2;
    case TexelType::kU32:
    case TexelType::kS32:
    case TexelType::kF32:
      break;
  }
  return 4;
}

// Which texel a coordinate outside of the texture stands for.
enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

// Where texels lie.
struct TexelGrid {
  std::uint64_t address = 0;  // of the first texel
  // In texels; the last one may count layers, or the faces of cubes.
  std::array<std::uint32_t, 3> extents = {1, 1, 1};
  std::uint64_t pitch = 0;  // bytes from one row to the next
  std::uint64_t slice = 0;  // bytes from one slice of rows to the next
};

// What a texture or surface object says of its memory, and how it is read.
struct TextureView : TexelGrid {
  bool is_surface = false;
  // Memory with one row, whose texels are read by their index alone; 0 is read after its end.
  bool is_linear = false;
  int dimensions = 1;  // 1 to 3; of a face for cubes
  // Several textures of one or two dimensions, or several cubes, which lie a slice apart.
  bool is_layered = false;
  bool is_cube = false;
  // Further levels of a mipmap, each half as large as the one before.
  std::vector<TexelGrid> smaller;
  TexelType type = TexelType::kU8;
  unsigned channels = 1;  // 1, 2 or 4

  // Of textures alone.
  std::array<AddressMode, 3> modes = {AddressMode::kClamp, AddressMode::kClamp,
                                      AddressMode::kClamp};
  bool is_filtered = false;  // linearly, where the result is a float
  bool has_normalized_coordinates = false;
  bool reads_normalized = false;  // integers of 8 and 16 bits are read as floats up to 1
  bool is_srgb = false;           // the first three channels of 8 bits are sRGB's
  std::array<float, 4> border = {};
  // Of mipmaps: the level of a fetch is moved by the bias, and then lies in the range.
  bool blends_levels = false;
  float level_bias = 0;
  float least_level = 0;
  float most_level = 0;

  unsigned texel_bytes() const { return bytes_of(type) * channels; }
  bool gives_floats() const {
    return type == TexelType::kF32 || type == TexelType::kF16 ||
           (reads_normalized && bytes_of(type) < 4);
  }
};

// The texture and surface objects of one context, by the handle that kernels are given.
// Thread-safe.
class TextureTable {
 public:
  // Whoever adds gives each a handle of its own.
  void add(std::uint64_t handle, const TextureView& view);
  void remove(std::uint64_t handle);
  // Null where there is none.
  std::shared_ptr<const TextureView> find(std::uint64_t handle) const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const TextureView>> views_;
};

}  // namespace baton::sim
