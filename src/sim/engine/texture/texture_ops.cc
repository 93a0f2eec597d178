#include "sim/engine/texture/texture_ops.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "sim/engine/judge/lane_access.h"
#include "sim/engine/run/warp.h"
#include "sim/engine/texture/sampler.h"

namespace baton::sim {
namespace {

const char* name_of(bool is_surface) {
  return is_surface ? "surface" : "texture";
}

// The objects that the lanes name, mostly one.
class Views {
 public:
  Views(Exec* x, const Insn* i, bool is_surface) : x_(x), i_(i), is_surface_(is_surface) {}

  // Null after a fault.
  const TextureView* of(int lane) {
    const std::uint64_t handle = slot_at<std::uint64_t>(x_, i_->r[4])[lane];
    if (view_ == nullptr || handle != handle_) {
      const auto& table = x_->grid->config->textures;
      view_ = table == nullptr ? nullptr : table->find(handle);
      handle_ = handle;
    }
    if (view_ == nullptr || view_->is_surface != is_surface_) {
      wrong(lane, fmt::format("uses {:#x} as a {} object: {}", handle, name_of(is_surface_),
                              view_ == nullptr ? "no object of this context has that handle"
                              : is_surface_    ? "it is a texture object"
                                               : "it is a surface object"));
      return nullptr;
    }
    return view_.get();
  }
  const TextureView* of(int lane, unsigned dimensions, bool has_layer) {
    const TextureView* const view = of(lane);
    if (view == nullptr) return nullptr;
    if (static_cast<unsigned>(view->dimensions) == dimensions && view->is_layered == has_layer) {
      return view;
    }
    wrong(lane, fmt::format("takes a {} of {} dimensions{} for one of {}{}", name_of(is_surface_),
                            view->dimensions, view->is_layered ? " with layers" : "", dimensions,
                            has_layer ? " with layers" : ""));
    return nullptr;
  }

 private:
  void wrong(int lane, const std::string& message) {
    fault(x_, i_, lane, CUDA_ERROR_INVALID_HANDLE, driver::FindingKind::kBadTexture, message);
  }

  Exec* x_;
  const Insn* i_;
  const bool is_surface_;
  std::uint64_t handle_ = 0;
  std::shared_ptr<const TextureView> view_;
};

// One fetch of one lane. Each read of a texel is checked like any other.
class Fetch {
 public:
  Fetch(Exec* x, const Insn* i, int lane, const TextureView& view, const TextureAccess& access)
      : x_(x), i_(i), lane_(lane), view_(view) {
    if (!access.has_layer) return;
    const std::uint32_t layer = slot_at<std::uint32_t>(x, i->u.list[1 + access.dimensions])[lane];
    layer_ = std::min(layer, view.extents[2] - 1);
  }

  // Nothing after a fault.
  std::optional<Texel> run(const TextureAccess& access) {
    const unsigned dimensions = access.dimensions;
    if (access.by_index || view_.is_linear) return at_index(dimensions, access.by_index);
    if (!access.gathers && !(view_.is_filtered && view_.gives_floats())) {
      std::array<std::int64_t, 3> texel = {0, 0, layer_};
      for (unsigned d = 0; d < dimensions; ++d) {
        texel[d] = nearest_texel(coordinate(d), view_.extents[d], view_.modes[d],
                                 view_.has_normalized_coordinates);
      }
      return texel_of(texel);
    }
    std::array<TexelPair, 3> footprints = {};
    for (unsigned d = 0; d < dimensions; ++d) {
      footprints[d] = filtered_texels(coordinate(d), view_.extents[d], view_.modes[d],
                                      view_.has_normalized_coordinates);
    }
    return access.gathers ? gather(footprints, access.component) : filter(footprints, dimensions);
  }

 private:
  double coordinate(unsigned d) const { return slot_at<float>(x_, i_->u.list[1 + d])[lane_]; }

  std::optional<Texel> at_index(unsigned dimensions, bool by_index) {
    std::array<std::int64_t, 3> texel = {0, 0, layer_};
    for (unsigned d = 0; d < dimensions; ++d) {
      const std::int64_t index =
          by_index ? std::int64_t{slot_at<std::int32_t>(x_, i_->u.list[1 + d])[lane_]}
                   : nearest_texel(coordinate(d), view_.extents[d], AddressMode::kBorder, false);
      const bool is_inside = index >= 0 && index < static_cast<std::int64_t>(view_.extents[d]);
      if (view_.is_linear && !is_inside) return Texel{};
      texel[d] = texel_at(index, view_.extents[d], view_.modes[d]);
    }
    return texel_of(texel);
  }

  // -1 among the indexes stands for the border.
  std::optional<Texel> texel_of(const std::array<std::int64_t, 3>& texel) {
    if (std::min({texel[0], texel[1], texel[2]}) < 0) return border_of(view_);
    std::byte memory[16];
    const auto at = [&](std::size_t d) { return static_cast<std::uint64_t>(texel[d]); };
    const std::uint64_t address =
        view_.address + at(2) * view_.slice + at(1) * view_.pitch + at(0) * view_.texel_bytes();
    if (!load_lane(x_, i_, lane_, Space::kGlobal, address, memory, view_.texel_bytes(),
                   LoadKind::kNonCoherent)) {
      return std::nullopt;
    }
    return decode(view_, memory);
  }

  std::optional<Texel> filter(const std::array<TexelPair, 3>& footprints, unsigned dimensions) {
    FilteredSum sum;
    for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
      std::array<std::int64_t, 3> texel = {0, 0, layer_};
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
    const std::array<std::array<std::int64_t, 3>, 4> corners = {{{x.first, y.second, layer_},
                                                                 {x.second, y.second, layer_},
                                                                 {x.second, y.first, layer_},
                                                                 {x.first, y.first, layer_}}};
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
  std::int64_t layer_ = 0;
};

// What the dimensions of a surface are counted in; the last one may be that of layers.
struct SurfaceUnit {
  const char* one;
  const char* all;
};
constexpr SurfaceUnit kSurfaceUnits[] = {
    {"byte", "bytes a row"}, {"row", "rows"}, {"slice", "slices"}, {"layer", "layers"}};

// Where an access to a surface goes; nothing where it goes nowhere, after a fault unless such
// accesses are dropped.
std::optional<std::uint64_t> place_in(Exec* x, const Insn* i, int lane, const TextureView& view,
                                      const SurfaceAccess& access) {
  const std::uint32_t bytes = access.bytes * access.elements;
  std::array<std::int64_t, 3> at = {};
  const unsigned count = access.dimensions + (access.has_layer ? 1 : 0);
  for (unsigned k = 0; k < count; ++k) {
    const bool is_layer = k == access.dimensions;
    const unsigned d = is_layer ? 2 : k;
    at[d] = slot_at<std::int32_t>(x, i->u.list[1 + k])[lane];
    const std::int64_t extent =
        d == 0 ? std::int64_t{view.extents[0]} * view.texel_bytes() : view.extents[d];
    const std::int64_t last = extent - (d == 0 ? bytes : 1);
    if (at[d] >= 0 && at[d] <= last) continue;
    if (access.mode == SurfaceMode::kZero) return std::nullopt;
    if (access.mode == SurfaceMode::kClamp && last >= 0) {
      at[d] = std::clamp<std::int64_t>(at[d], 0, last);
      continue;
    }
    const SurfaceUnit& unit = kSurfaceUnits[is_layer ? 3 : d];
    fault(x, i, lane, CUDA_ERROR_LAUNCH_FAILED, driver::FindingKind::kOutOfBounds,
          fmt::format("accesses {} bytes of a surface at {} {}, where it has {} {}", bytes,
                      unit.one, at[d], extent, unit.all));
    return std::nullopt;
  }
  return view.address + static_cast<std::uint64_t>(at[2]) * view.slice +
         static_cast<std::uint64_t>(at[1]) * view.pitch + static_cast<std::uint64_t>(at[0]);
}

template <class Body>
const Insn* each_surface_lane(Exec* x, const Insn* i, Body body) {
  const SurfaceAccess access = SurfaceAccess::unpack(i->u.list[0]);
  Views views(x, i, true);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const TextureView* view = views.of(lane, access.dimensions, access.has_layer);
    if (view == nullptr) return nullptr;
    const auto place = place_in(x, i, lane, *view, access);
    if (!place && access.mode != SurfaceMode::kZero) return nullptr;
    if (!body(lane, access, place)) return nullptr;
  }
  return i + 1;
}

std::byte* element_at(Exec* x, const Insn* i, int lane, const SurfaceAccess& access, unsigned k) {
  return x->frame + i->r[k] + static_cast<std::size_t>(lane) * access.slot;
}

const Insn* query(Exec* x, const Insn* i, bool is_surface) {
  Views views(x, i, is_surface);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const TextureView* view = views.of(lane);
    if (view == nullptr) return nullptr;
    const auto d = static_cast<std::size_t>(i->imm);
    const bool has_it = d < static_cast<std::size_t>(view->dimensions);
    slot_at<std::uint32_t>(x, i->r[0])[lane] = has_it ? view->extents[d] : 0;
  }
  return i + 1;
}

}  // namespace

const Insn* op_texture(Exec* x, const Insn* i) {
  const TextureAccess access = TextureAccess::unpack(i->u.list[0]);
  Views views(x, i, false);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const TextureView* view = views.of(lane, access.dimensions, access.has_layer);
    if (view == nullptr) return nullptr;
    const std::optional<Texel> texel = Fetch(x, i, lane, *view, access).run(access);
    if (!texel) return nullptr;
    for (std::size_t k = 0; k < 4; ++k) slot_at<std::uint32_t>(x, i->r[k])[lane] = (*texel)[k];
  }
  return i + 1;
}

const Insn* op_surface_load(Exec* x, const Insn* i) {
  return each_surface_lane(
      x, i, [&](int lane, const SurfaceAccess& access, const std::optional<std::uint64_t>& place) {
        std::byte memory[32] = {};
        if (place && !load_lane(x, i, lane, Space::kGlobal, *place, memory,
                                access.bytes * access.elements, LoadKind::kNonCoherent)) {
          return false;
        }
        for (unsigned k = 0; k < access.elements; ++k) {
          std::byte* element = element_at(x, i, lane, access, k);
          std::fill_n(element, access.slot, std::byte{0});
          std::copy_n(memory + k * access.bytes, access.bytes, element);
        }
        return true;
      });
}

const Insn* op_surface_store(Exec* x, const Insn* i) {
  return each_surface_lane(
      x, i, [&](int lane, const SurfaceAccess& access, const std::optional<std::uint64_t>& place) {
        if (!place) return true;
        std::byte memory[32];
        for (unsigned k = 0; k < access.elements; ++k) {
          std::copy_n(element_at(x, i, lane, access, k), access.bytes, memory + k * access.bytes);
        }
        return store_lane(x, i, lane, Space::kGlobal, *place, memory,
                          access.bytes * access.elements, false);
      });
}

const Insn* op_query_texture(Exec* x, const Insn* i) {
  return query(x, i, false);
}

const Insn* op_query_surface(Exec* x, const Insn* i) {
  return query(x, i, true);
}

}  // namespace baton::sim
