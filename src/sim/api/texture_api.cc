// Texture and surface objects. The limits are those that the documentation of cuTexObjectCreate
// gives (CUDA 13.0 driver API).

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "sim/api/api.h"
#include "sim/api/array.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"
#include "sim/queue/place.h"

namespace baton::sim::api {
namespace {

void require_valid(bool condition) {
  require(condition, CUDA_ERROR_INVALID_VALUE);
}

struct Limits {
  const Profile& profile;
  std::uint64_t at(CUdevice_attribute attribute) const {
    return static_cast<std::uint64_t>(profile.at(attribute));
  }
};

void set_format(CUarray_format format, unsigned channels, TextureView* view) {
  const std::optional<TexelType> type = texel_type(format);
  if (!type) {
    throw error(ErrorCode::kUnsupported, "the simulated GPU has no textures of format {:#x}",
                static_cast<unsigned>(format));
  }
  require_valid(channels == 1 || channels == 2 || channels == 4);
  view->type = *type;
  view->channels = channels;
}

TextureView view_of_array(CUarray handle, const Context& context) {
  const std::shared_ptr<const SimArray> array = array_of(handle);
  require_valid(array->heap == context.heap());
  const CUDA_ARRAY3D_DESCRIPTOR& d = array->description;
  TextureView view;
  set_format(d.Format, d.NumChannels, &view);
  view.address = array->address;
  view.dimensions = array->dimensions();
  view.is_layered = array->is_layered();
  view.is_cube = array->is_cube();
  view.extents = {static_cast<std::uint32_t>(d.Width), static_cast<std::uint32_t>(array->rows()),
                  static_cast<std::uint32_t>(array->slices())};
  view.pitch = array->pitch;
  view.slice = array->slice;
  return view;
}

TextureView view_of_mipmap(CUmipmappedArray handle, const Context& context) {
  const std::shared_ptr<const SimMipmap> mipmap = mipmap_of(handle);
  TextureView view = view_of_array(mipmap->levels.front(), context);
  for (std::size_t level = 1; level < mipmap->levels.size(); ++level) {
    view.smaller.push_back(view_of_array(mipmap->levels[level], context));
  }
  return view;
}

// Memory of the device, or of the host where kernels may use it.
void set_memory(CUdeviceptr address, std::uint64_t bytes, const Limits& limits, TextureView* view) {
  require_valid(address % limits.at(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 0);
  device_place(address, bytes);  // refuses what is not there
  view->address = address;
}

TextureView view_of_linear(const CUDA_RESOURCE_DESC& resource, const Limits& limits) {
  const auto& linear = resource.res.linear;
  TextureView view;
  view.is_linear = true;
  set_format(linear.format, linear.numChannels, &view);
  const std::uint64_t texels = linear.sizeInBytes / view.texel_bytes();
  require_valid(texels > 0 &&
                texels <= limits.at(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH));
  set_memory(linear.devPtr, linear.sizeInBytes, limits, &view);
  view.extents[0] = static_cast<std::uint32_t>(texels);
  return view;
}

TextureView view_of_rows(const CUDA_RESOURCE_DESC& resource, const Limits& limits) {
  const auto& rows = resource.res.pitch2D;
  TextureView view;
  view.dimensions = 2;
  set_format(rows.format, rows.numChannels, &view);
  require_valid(rows.width > 0 &&
                rows.width <= limits.at(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH));
  require_valid(rows.height > 0 &&
                rows.height <= limits.at(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT));
  require_valid(rows.pitchInBytes <=
                    limits.at(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH) &&
                rows.pitchInBytes % limits.at(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) == 0 &&
                rows.pitchInBytes >= rows.width * view.texel_bytes());
  set_memory(rows.devPtr, (rows.height - 1) * rows.pitchInBytes + rows.width * view.texel_bytes(),
             limits, &view);
  view.extents = {static_cast<std::uint32_t>(rows.width), static_cast<std::uint32_t>(rows.height),
                  1};
  view.pitch = rows.pitchInBytes;
  return view;
}

TextureView view_of(const CUDA_RESOURCE_DESC* resource, const Context& context) {
  require_valid(resource != nullptr && resource->flags == 0);
  const Limits limits{context.profile()};
  switch (resource->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return view_of_array(resource->res.array.hArray, context);
    case CU_RESOURCE_TYPE_LINEAR:
      return view_of_linear(*resource, limits);
    case CU_RESOURCE_TYPE_PITCH2D:
      return view_of_rows(*resource, limits);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return view_of_mipmap(resource->res.mipmap.hMipmappedArray, context);
  }
  throw Refusal(CUDA_ERROR_INVALID_VALUE);
}

AddressMode mode_of(CUaddress_mode mode) {
  switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
      return AddressMode::kWrap;
    case CU_TR_ADDRESS_MODE_CLAMP:
      return AddressMode::kClamp;
    case CU_TR_ADDRESS_MODE_MIRROR:
      return AddressMode::kMirror;
    case CU_TR_ADDRESS_MODE_BORDER:
      return AddressMode::kBorder;
  }
  throw Refusal(CUDA_ERROR_INVALID_VALUE);
}

void set_sampling(const CUDA_TEXTURE_DESC& texture, TextureView* view) {
  constexpr unsigned kFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                              CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                              CU_TRSF_SEAMLESS_CUBEMAP;
  require_valid((texture.flags & ~kFlags) == 0);
  require_valid(texture.filterMode == CU_TR_FILTER_MODE_POINT ||
                texture.filterMode == CU_TR_FILTER_MODE_LINEAR);
  view->reads_normalized = (texture.flags & CU_TRSF_READ_AS_INTEGER) == 0;
  view->has_normalized_coordinates = (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  view->is_srgb = (texture.flags & CU_TRSF_SRGB) != 0;
  view->is_filtered = texture.filterMode == CU_TR_FILTER_MODE_LINEAR && !view->is_linear;
  // What is filtered must be floats.
  require_valid(!view->is_filtered || view->gives_floats());
  if (view->is_cube && view->is_filtered && (texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0) {
    throw error(ErrorCode::kUnsupported,
                "the simulated GPU does not filter over the edges of a cube's faces "
                "(CU_TRSF_SEAMLESS_CUBEMAP)");
  }
  view->blends_levels = texture.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
  view->level_bias = texture.mipmapLevelBias;
  view->least_level = texture.minMipmapLevelClamp;
  view->most_level = texture.maxMipmapLevelClamp;
  for (std::size_t d = 0; d < 3; ++d) view->modes[d] = mode_of(texture.addressMode[d]);
  std::copy_n(texture.borderColor, 4, view->border.begin());
}

// The number that stands for the object, also in kernels.
unsigned long long add(Context& context, const TextureView& view, TextureObject object) {
  object.heap = context.heap();
  object.is_surface = view.is_surface;
  const TextureHandle handle =
      Objects::instance().textures.add(std::make_shared<const TextureObject>(std::move(object)));
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  context.textures().add(number, view);
  return number;
}

std::shared_ptr<const TextureObject> object_of(unsigned long long number, bool is_surface) {
  const std::shared_ptr<Context> context = usable_context();
  std::shared_ptr<const TextureObject> object =
      Objects::instance().textures.find(to_texture_handle(number));
  require_valid(object != nullptr && object->is_surface == is_surface &&
                object->heap == context->heap());
  return object;
}

// Launches that use it may still wait for their turn.
CUresult destroy(unsigned long long number, bool is_surface) {
  object_of(number, is_surface);
  const std::shared_ptr<Context> context = usable_context();
  context->queue().drain();
  Objects::instance().textures.remove(to_texture_handle(number));
  context->textures().remove(number);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult TexObjectCreate(CUtexObject* handle, const CUDA_RESOURCE_DESC* resource,
                         const CUDA_TEXTURE_DESC* texture,
                         const CUDA_RESOURCE_VIEW_DESC* resource_view) {
  const std::shared_ptr<Context> context = usable_context();
  require_valid(handle != nullptr && texture != nullptr);
  if (resource_view != nullptr) {
    throw error(ErrorCode::kUnsupported,
                "the simulated GPU has no textures with a resource view (CUDA_RESOURCE_VIEW_DESC)");
  }
  TextureView view = view_of(resource, *context);
  set_sampling(*texture, &view);
  require_valid(resource->resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY ||
                view.has_normalized_coordinates);
  *handle = add(*context, view, {nullptr, false, *resource, *texture});
  return CUDA_SUCCESS;
}

CUresult TexObjectDestroy(CUtexObject handle) {
  return destroy(handle, false);
}

CUresult TexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject handle) {
  require_valid(resource != nullptr);
  *resource = object_of(handle, false)->resource;
  return CUDA_SUCCESS;
}

CUresult TexObjectGetTextureDesc(CUDA_TEXTURE_DESC* texture, CUtexObject handle) {
  require_valid(texture != nullptr);
  *texture = object_of(handle, false)->texture;
  return CUDA_SUCCESS;
}

// Only arrays have surfaces.
CUresult SurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  const std::shared_ptr<Context> context = usable_context();
  require_valid(handle != nullptr && resource != nullptr &&
                resource->resType == CU_RESOURCE_TYPE_ARRAY);
  TextureView view = view_of(resource, *context);
  view.is_surface = true;
  // The faces of cubes are layers to a surface.
  view.is_layered |= std::exchange(view.is_cube, false);
  *handle = add(*context, view, {nullptr, true, *resource, {}});
  return CUDA_SUCCESS;
}

CUresult SurfObjectDestroy(CUsurfObject handle) {
  return destroy(handle, true);
}

CUresult SurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  require_valid(resource != nullptr);
  *resource = object_of(handle, true)->resource;
  return CUDA_SUCCESS;
}

CUresult DeviceGetTexture1DLinearMaxWidth(size_t* texels, CUarray_format format, unsigned channels,
                                          CUdevice device) {
  enter();
  require_valid(texels != nullptr);
  TextureView view;
  set_format(format, channels, &view);
  *texels =
      Limits{device_of(device).profile()}.at(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
