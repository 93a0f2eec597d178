#include "sim/engine/texture/texture_ops.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "sim/engine/isa/reduce.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/run/warp.h"
#include "sim/engine/texture/fetch.h"

namespace baton::sim {
namespace {

const char* name_of(bool is_surface) {
  return is_surface ? "surface" : "texture";
}

// "2 dimensions with layers", "a cube".
std::string shape_of(unsigned dimensions, bool has_layer, bool is_cube) {
  return (is_cube ? std::string("a cube") : fmt::format("{} dimensions", dimensions)) +
         (has_layer ? " with layers" : "");
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
  const TextureView* of(int lane, unsigned dimensions, bool has_layer, bool is_cube) {
    const TextureView* const view = of(lane);
    if (view == nullptr) return nullptr;
    if (static_cast<unsigned>(view->dimensions) == dimensions && view->is_layered == has_layer &&
        view->is_cube == is_cube) {
      return view;
    }
    wrong(lane, fmt::format("takes a {} of {} for one of {}", name_of(is_surface_),
                            shape_of(static_cast<unsigned>(view->dimensions), view->is_layered,
                                     view->is_cube),
                            shape_of(dimensions, has_layer, is_cube)));
    return nullptr;
  }

 private:
  void wrong(int lane, const std::string& message) {
    fault(x_, i_, lane, CUDA_ERROR_LAUNCH_FAILED, driver::FindingKind::kBadTexture, message);
  }

  Exec* x_;
  const Insn* i_;
  const bool is_surface_;
  std::uint64_t handle_ = 0;
  std::shared_ptr<const TextureView> view_;
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
    const TextureView* view = views.of(lane, access.dimensions, access.has_layer, false);
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

std::uint32_t answer_of(const TextureView& view, TextureQuery asked) {
  switch (asked) {
    case TextureQuery::kLayers:
      return view.is_layered ? view.extents[2] / (view.is_cube ? 6 : 1) : 0;
    case TextureQuery::kLevels:
      return static_cast<std::uint32_t>(view.smaller.size()) + 1;
    default:
      break;
  }
  const auto d = static_cast<std::size_t>(asked);
  return d < static_cast<std::size_t>(view.dimensions) ? view.extents[d] : 0;
}

const Insn* query(Exec* x, const Insn* i, bool is_surface) {
  Views views(x, i, is_surface);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const TextureView* view = views.of(lane);
    if (view == nullptr) return nullptr;
    slot_at<std::uint32_t>(x, i->r[0])[lane] = answer_of(*view, static_cast<TextureQuery>(i->imm));
  }
  return i + 1;
}

}  // namespace

const Insn* op_texture(Exec* x, const Insn* i) {
  const TextureAccess access = TextureAccess::unpack(i->u.list[0]);
  Views views(x, i, false);
  for (std::uint32_t left = x->mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const TextureView* view = views.of(lane, access.dimensions, access.has_layer, access.is_cube);
    if (view == nullptr) return nullptr;
    const std::optional<Texel> texel = fetch(x, i, lane, *view, access);
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

const Insn* op_surface_reduce(Exec* x, const Insn* i) {
  const Reduce reduce = find_reduction(static_cast<AtomOp>(i->mode), static_cast<Type>(i->imm));
  return each_surface_lane(
      x, i, [&](int lane, const SurfaceAccess& access, const std::optional<std::uint64_t>& place) {
        if (!place) return true;
        std::byte* const to = atomic_lane(x, i, lane, Space::kGlobal, *place, access.bytes);
        if (to == nullptr) return false;
        reduce(to, element_at(x, i, lane, access, 0), access.bytes);
        return true;
      });
}

const Insn* op_query_texture(Exec* x, const Insn* i) {
  return query(x, i, false);
}

const Insn* op_query_surface(Exec* x, const Insn* i) {
  return query(x, i, true);
}

}  // namespace baton::sim
