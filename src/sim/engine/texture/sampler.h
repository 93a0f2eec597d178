#pragma once

#include <array>
#include <cstdint>

#include "sim/engine/texture/texture.h"

namespace baton::sim {

// Which texels a fetch takes and what it makes of them, as the CUDA programming guide's appendix
// "Texture Fetching" has it. No memory is read here.

// The texels along one dimension: `first`, and, if the fetch is filtered, the one after it with
// the weight `second_weight` / 256. -1 stands for the border.
struct TexelPair {
  std::int64_t first = 0;
  std::int64_t second = 0;
  unsigned second_weight = 0;
};
// Of a filtered fetch, and of tld4: coordinates have 8 bits after the point.
TexelPair filtered_texels(double coordinate, std::uint32_t extent, AddressMode mode,
                          bool normalized);
// Of one that takes the nearest texel.
std::int64_t nearest_texel(double coordinate, std::uint32_t extent, AddressMode mode,
                           bool normalized);
// Of an integer coordinate, which counts texels.
std::int64_t texel_at(std::int64_t index, std::uint32_t extent, AddressMode mode);

// The face of a cube that a direction meets, and where, from 0 to 1 (the appendix's table). Of
// equal coordinates z counts before y and y before x; the guide does not say.
struct CubePoint {
  unsigned face = 0;
  double s = 0;
  double t = 0;
};
CubePoint cube_point(float x, float y, float z);

// The levels of a mipmap that a fetch of `level` takes: `first`, and the one after it with the
// weight `second_weight` / 256.
struct LevelPair {
  std::size_t first = 0;
  std::size_t second = 0;
  unsigned second_weight = 0;
};
LevelPair levels_at(const TextureView& view, double level);
// The level for changes of the coordinates by `dx` and `dy` from one pixel to the next.
double level_of_gradients(const TextureView& view, const std::array<float, 3>& dx,
                          const std::array<float, 3>& dy);

// A texel as registers hold it: floats, or integers of 32 bits. Channels that are not there are 0,
// the last one 1.
using Texel = std::array<std::uint32_t, 4>;
// `memory`: texel_bytes() bytes.
Texel decode(const TextureView& view, const std::byte* memory);
Texel border_of(const TextureView& view);

// The sum of texels of floats, by their weights, which add up to 1.
class FilteredSum {
 public:
  void add(const Texel& texel, double weight);
  Texel value() const;

 private:
  std::array<double, 4> sums_ = {};
};

}  // namespace baton::sim
