#include "sim/engine/texture/fetch.h"

#include <algorithm>

#include "sim/engine/judge/lane_access.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::int64_t kFaces = 6;

// A fetch of one lane from one level.
class LevelFetch {
 public:
  LevelFetch(Exec* x, const Insn* i, int lane, const TextureView& view, const TexelGrid& grid,
             const TextureAccess& access)
      : x_(x), i_(i), lane_(lane), view_(view), grid_(grid) {
    for (unsigned d = 0; d < access.dimensions && !access.is_cube && !access.by_index; ++d) {
      coordinates_[d] = given(d);
    }
    if (access.has_layer) {
      const std::int64_t layers = grid.extents[2] / (access.is_cube ? kFaces : 1);
      const std::uint32_t layer =
          slot_at<std::uint32_t>(x, i->u.list[1 + access.coordinates()])[lane];
      slice_ = std::min<std::int64_t>(layer, layers - 1);
    }
    if (access.is_cube) {
      const CubePoint point = cube_point(given(0), given(1), given(2));
      coordinates_ = {point.s, point.t, 0};
      slice_ = slice_ * kFaces + point.face;
    }
  }

  std::optional<Texel> run(const TextureAccess& access) {
    const unsigned dimensions = access.dimensions;
    if (access.by_index || view_.is_linear) return at_index(dimensions, access.by_index);
    if (!access.gathers && !(view_.is_filtered && view_.gives_floats())) {
      std::array<std::int64_t, 3> texel = {0, 0, slice_};
      for (unsigned d = 0; d < dimensions; ++d) {
        texel[d] = nearest_texel(coordinates_[d], grid_.extents[d], mode(d), is_normalized());
      }
      return texel_of(texel);
    }
    std::array<TexelPair, 3> footprints = {};
    for (unsigned d = 0; d < dimensions; ++d) {
      footprints[d] = filtered_texels(coordinates_[d], grid_.extents[d], mode(d), is_normalized());
    }
    return access.gathers ? gather(footprints, access.component) : filter(footprints, dimensions);
  }

 private:
  float given(unsigned d) const { return slot_at<float>(x_, i_->u.list[1 + d])[lane_]; }
  // A face of a cube ends where the next one begins.
  AddressMode mode(unsigned d) const {
    return view_.is_cube ? AddressMode::kClamp : view_.modes[d];
  }
  bool is_normalized() const { return view_.is_cube || view_.has_normalized_coordinates; }

  std::optional<Texel> at_index(unsigned dimensions, bool by_index) {
    std::array<std::int64_t, 3> texel = {0, 0, slice_};
    for (unsigned d = 0; d < dimensions; ++d) {
      const std::int64_t index =
          by_index ? std::int64_t{slot_at<std::int32_t>(x_, i_->u.list[1 + d])[lane_]}
                   : nearest_texel(coordinates_[d], grid_.extents[d], AddressMode::kBorder, false);
      const bool is_inside = index >= 0 && index < static_cast<std::int64_t>(grid_.extents[d]);
      if (view_.is_linear && !is_inside) return Texel{};
      texel[d] = texel_at(index, grid_.extents[d], view_.modes[d]);
    }
    return texel_of(texel);
  }

  // -1 among the indexes stands for the border.
  std::optional<Texel> texel_of(const std::array<std::int64_t, 3>& texel) {
    if (std::min({texel[0], texel[1], texel[2]}) < 0) return border_of(view_);
    std::byte memory[16];
    const auto at = [&](std::size_t d) { return static_cast<std::uint64_t>(texel[d]); };
    const std::uint64_t address =
        grid_.address + at(2) * grid_.slice + at(1) * grid_.pitch + at(0) * view_.texel_bytes();
    if (!load_lane(x_, i_, lane_, Space::kGlobal, address, memory, view_.texel_bytes(),
                   LoadKind::kNonCoherent)) {
      return std::nullopt;
    }
    return decode(view_, memory);
  }

  std::optional<Texel> filter(const std::array<TexelPair, 3>& footprints, unsigned dimensions) {
    FilteredSum sum;
    for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
      std::array<std::int64_t, 3> texel = {0, 0, slice_};
      double weight = 1;
      for (unsigned d = 0; d < dimensions; ++d) {
        const bool is_second = (corner >> d & 1) != 0;
        const double second = footprints[d].second_weight / 256.0;
        texel[d] = is_second ? footprints[d].second : footprints[d].first;
        weight *= is_second ? second : 1 - second;
      }
      if (weight == 0) continue;
      const std::optional<Texel> value = texel_of(texel);
      if (!value) return std::nullopt;
      sum.add(*value, weight);
    }
    return sum.value();
  }

  // The four texels of a filtered fetch, against the clock from the lower left.
  std::optional<Texel> gather(const std::array<TexelPair, 3>& footprints, unsigned component) {
    const TexelPair& x = footprints[0];
    const TexelPair& y = footprints[1];
    const std::array<std::array<std::int64_t, 3>, 4> corners = {{{x.first, y.second, slice_},
                                                                 {x.second, y.second, slice_},
                                                                 {x.second, y.first, slice_},
                                                                 {x.first, y.first, slice_}}};
    Texel gathered;
    for (std::size_t k = 0; k < corners.size(); ++k) {
      const std::optional<Texel> texel = texel_of(corners[k]);
      if (!texel) return std::nullopt;
      gathered[k] = (*texel)[component];
    }
    return gathered;
  }

  Exec* x_;
  const Insn* i_;
  const int lane_;
  const TextureView& view_;
  const TexelGrid& grid_;
  std::array<double, 3> coordinates_ = {};
  std::int64_t slice_ = 0;
};

// Of a mipmap, with the bias.
double level_of(Exec* x, const Insn* i, int lane, const TextureView& view,
                const TextureAccess& access) {
  const std::uint32_t* const further =
      i->u.list + 1 + access.coordinates() + (access.has_layer ? 1 : 0);
  if (access.level == LevelChoice::kGiven && access.by_index) {
    return double{view.level_bias} + slot_at<std::int32_t>(x, further[0])[lane];
  }
  if (access.level == LevelChoice::kGiven) {
    return double{view.level_bias} + slot_at<float>(x, further[0])[lane];
  }
  if (access.level == LevelChoice::kBase) return 0;
  std::array<float, 3> changes[2] = {};
  for (unsigned d = 0; d < access.dimensions; ++d) {
    changes[0][d] = slot_at<float>(x, further[d])[lane];
    changes[1][d] = slot_at<float>(x, further[access.dimensions + d])[lane];
  }
  return double{view.level_bias} + level_of_gradients(view, changes[0], changes[1]);
}

}  // namespace

std::optional<Texel> fetch(Exec* x, const Insn* i, int lane, const TextureView& view,
                           const TextureAccess& access) {
  const auto from = [&](std::size_t level) {
    const TexelGrid& grid = level == 0 ? view : view.smaller[level - 1];
    return LevelFetch(x, i, lane, view, grid, access).run(access);
  };
  if (view.smaller.empty()) return from(0);
  const LevelPair levels = levels_at(view, level_of(x, i, lane, view, access));
  const std::optional<Texel> first = from(levels.first);
  if (!first || levels.second_weight == 0 || !view.gives_floats() || access.gathers) return first;
  const std::optional<Texel> second = from(levels.second);
  if (!second) return std::nullopt;
  FilteredSum sum;
  sum.add(*first, 1 - levels.second_weight / 256.0);
  sum.add(*second, levels.second_weight / 256.0);
  return sum.value();
}

}  // namespace baton::sim
