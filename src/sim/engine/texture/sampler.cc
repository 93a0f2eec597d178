#include "sim/engine/texture/sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace baton::sim {
namespace {

constexpr std::int64_t kBorder = -1;
// Coordinates beyond are as far outside as these are.
constexpr double kFarthest = 1 << 30;

// In texels; wrapped and mirrored coordinates lie inside of the texture.
double in_texels(double coordinate, std::uint32_t extent, AddressMode mode, bool normalized) {
  if (std::isnan(coordinate)) return 0;
  if (!normalized) return std::clamp(coordinate, -kFarthest, kFarthest);
  if (std::isinf(coordinate)) coordinate = std::copysign(kFarthest, coordinate);
  const double whole = std::floor(coordinate);
  if (mode == AddressMode::kWrap) coordinate -= whole;
  if (mode == AddressMode::kMirror) {
    const double part = coordinate - whole;
    coordinate = std::fmod(whole, 2) == 0 ? part : 1 - part;
  }
  return std::clamp(coordinate * extent, -kFarthest, kFarthest);
}

// Coordinates that are not normalized are clamped where they would be wrapped or mirrored.
AddressMode mode_of(AddressMode mode, bool normalized) {
  const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  return repeats && !normalized ? AddressMode::kClamp : mode;
}

float half_to_float(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 0x3ff;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    return std::bit_cast<float>(std::uint32_t{bits & 0x8000u} << 16 | 0x7f800000u |
                                static_cast<std::uint32_t>(fraction) << 13);
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

template <class T>
T load_as(const std::byte* memory) {
  T value;
  std::memcpy(&value, memory, sizeof(value));
  return value;
}

// The integer of a channel, extended by its sign or by zeros.
std::int64_t integer_of(TexelType type, const std::byte* memory) {
  switch (type) {
    case TexelType::kU8:
      return load_as<std::uint8_t>(memory);
    case TexelType::kS8:
      return load_as<std::int8_t>(memory);
    case TexelType::kU16:
    case TexelType::kF16:
      return load_as<std::uint16_t>(memory);
    case TexelType::kS16:
      return load_as<std::int16_t>(memory);
    case TexelType::kS32:
      return load_as<std::int32_t>(memory);
    case TexelType::kU32:
    case TexelType::kF32:
      break;
  }
  return load_as<std::uint32_t>(memory);
}

float normalized_float(TexelType type, std::int64_t value) {
  const bool is_signed = type == TexelType::kS8 || type == TexelType::kS16;
  const int bits = static_cast<int>(bytes_of(type)) * 8 - (is_signed ? 1 : 0);
  const double largest = static_cast<double>((std::int64_t{1} << bits) - 1);
  return static_cast<float>(std::max(static_cast<double>(value) / largest, -1.0));
}

float linear_of_srgb(float value) {
  const double v = value;
  return static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
}

std::uint32_t one_of(const TextureView& view) {
  return view.gives_floats() ? std::bit_cast<std::uint32_t>(1.0f) : 1u;
}

}  // namespace

std::int64_t texel_at(std::int64_t index, std::uint32_t extent, AddressMode mode) {
  const auto size = static_cast<std::int64_t>(extent);
  if (index >= 0 && index < size) return index;
  if (mode == AddressMode::kBorder) return kBorder;
  if (mode == AddressMode::kWrap) return (index % size + size) % size;
  // A mirrored coordinate is at most one texel outside.
  return std::clamp<std::int64_t>(index, 0, size - 1);
}

std::int64_t nearest_texel(double coordinate, std::uint32_t extent, AddressMode mode,
                           bool normalized) {
  mode = mode_of(mode, normalized);
  const double texels = in_texels(coordinate, extent, mode, normalized);
  return texel_at(static_cast<std::int64_t>(std::floor(texels)), extent, mode);
}

TexelPair filtered_texels(double coordinate, std::uint32_t extent, AddressMode mode,
                          bool normalized) {
  mode = mode_of(mode, normalized);
  const double texels = in_texels(coordinate, extent, mode, normalized) - 0.5;
  const std::int64_t fixed = std::llrint(texels * 256);
  const std::int64_t index = fixed >> 8;
  return {texel_at(index, extent, mode), texel_at(index + 1, extent, mode),
          static_cast<unsigned>(fixed & 255)};
}

CubePoint cube_point(float x, float y, float z) {
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  unsigned face = 0;
  double m = ax, s = 0, t = -double{y};
  if (az >= ax && az >= ay) {
    face = z < 0 ? 5 : 4;
    m = az;
    s = z < 0 ? -double{x} : double{x};
  } else if (ay >= ax) {
    face = y < 0 ? 3 : 2;
    m = ay;
    s = x;
    t = y < 0 ? -double{z} : double{z};
  } else {
    face = x < 0 ? 1 : 0;
    s = x < 0 ? double{z} : -double{z};
  }
  if (m == 0 || std::isnan(m)) return {face, 0.5, 0.5};
  return {face, (s / m + 1) / 2, (t / m + 1) / 2};
}

LevelPair levels_at(const TextureView& view, double level) {
  const auto last = static_cast<double>(view.smaller.size());
  if (std::isnan(level)) level = 0;
  level = std::min(std::max<double>(level, view.least_level), double{view.most_level});
  level = std::clamp(level, 0.0, last);
  if (!view.blends_levels) {
    const auto nearest = static_cast<std::size_t>(std::min(std::floor(level + 0.5), last));
    return {nearest, nearest, 0};
  }
  const auto fixed = static_cast<std::size_t>(std::llrint(level * 256));
  return {fixed >> 8, std::min((fixed >> 8) + 1, view.smaller.size()),
          static_cast<unsigned>(fixed & 255)};
}

double level_of_gradients(const TextureView& view, const std::array<float, 3>& dx,
                          const std::array<float, 3>& dy) {
  const auto length = [&](const std::array<float, 3>& change) {
    double squares = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(view.dimensions); ++d) {
      const double texels =
          double{change[d]} * (view.has_normalized_coordinates ? view.extents[d] : 1);
      squares += texels * texels;
    }
    return std::sqrt(squares);
  };
  return std::log2(std::max(length(dx), length(dy)));
}

Texel decode(const TextureView& view, const std::byte* memory) {
  Texel texel = {0, 0, 0, one_of(view)};
  for (unsigned channel = 0; channel < view.channels; ++channel) {
    const std::int64_t raw = integer_of(view.type, memory + channel * bytes_of(view.type));
    if (view.type == TexelType::kF16) {
      texel[channel] = std::bit_cast<std::uint32_t>(half_to_float(static_cast<std::uint16_t>(raw)));
    } else if (view.gives_floats() && view.type != TexelType::kF32) {
      float value = normalized_float(view.type, raw);
      if (view.is_srgb && view.type == TexelType::kU8 && channel < 3) value = linear_of_srgb(value);
      texel[channel] = std::bit_cast<std::uint32_t>(value);
    } else {
      texel[channel] = static_cast<std::uint32_t>(raw);
    }
  }
  return texel;
}

Texel border_of(const TextureView& view) {
  Texel texel;
  for (std::size_t channel = 0; channel < 4; ++channel) {
    texel[channel] = std::bit_cast<std::uint32_t>(view.border[channel]);
    if (channel >= view.channels) texel[channel] = channel == 3 ? one_of(view) : 0;
  }
  return texel;
}

void FilteredSum::add(const Texel& texel, double weight) {
  if (weight == 0) return;  // a texel that does not count may be infinite
  for (std::size_t channel = 0; channel < 4; ++channel) {
    sums_[channel] += weight * std::bit_cast<float>(texel[channel]);
  }
}

Texel FilteredSum::value() const {
  Texel texel;
  for (std::size_t channel = 0; channel < 4; ++channel) {
    texel[channel] = std::bit_cast<std::uint32_t>(static_cast<float>(sums_[channel]));
  }
  return texel;
}

}  // namespace baton::sim
