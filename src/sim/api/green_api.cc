// Green contexts.

#include <algorithm>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

void require_sms(CUdevResourceType type) {
  require(type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
}

std::shared_ptr<const GreenContext> usable_green(CUgreenCtx handle) {
  enter();
  std::shared_ptr<const GreenContext> green = Objects::instance().greens.find(handle);
  require(green != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  return green;
}

}  // namespace

CUresult DeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type) {
  enter();
  require(resource != nullptr, CUDA_ERROR_INVALID_VALUE);
  require_sms(type);
  *resource = SmResource::of(device_of(device)).written();
  return CUDA_SUCCESS;
}

CUresult GreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource,
                                CUdevResourceType type) {
  const std::shared_ptr<const GreenContext> green = usable_green(handle);
  require(resource != nullptr, CUDA_ERROR_INVALID_VALUE);
  require_sms(type);
  *resource = green->resource().written();
  return CUDA_SUCCESS;
}

CUresult DevSmResourceSplitByCount(CUdevResource* result, unsigned* count,
                                   const CUdevResource* input, CUdevResource* remaining,
                                   unsigned flags, unsigned least) {
  enter();
  constexpr unsigned kKnown = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                              CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
  require(count != nullptr && input != nullptr && (flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE);
  const bool single = (flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0;
  const std::size_t most = result == nullptr ? SmResource::kMostSms : *count;
  const SmSplit split = split_sms(SmResource::read(*input), most, least, single);
  *count = static_cast<unsigned>(split.groups.size());
  if (result == nullptr) return CUDA_SUCCESS;
  std::ranges::transform(split.groups, result, &SmResource::written);
  if (remaining != nullptr) *remaining = split.remaining.written();
  return CUDA_SUCCESS;
}

// The driver says nothing of the end of a descriptor, so it is kept as long as the process.
CUresult DevResourceGenerateDesc(CUdevResourceDesc* descriptor, CUdevResource* resources,
                                 unsigned count) {
  enter();
  require(descriptor != nullptr && resources != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
  std::vector<SmResource> parts;
  for (unsigned k = 0; k < count; ++k) parts.push_back(SmResource::read(resources[k]));
  *descriptor =
      Objects::instance().sm_resources.add(std::make_shared<const SmResource>(join_sms(parts)));
  return CUDA_SUCCESS;
}

CUresult GreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc descriptor, CUdevice device,
                        unsigned flags) {
  enter();
  require(handle != nullptr && flags == CU_GREEN_CTX_DEFAULT_STREAM, CUDA_ERROR_INVALID_VALUE);
  SimDevice& owner = device_of(device);
  const auto resource = Objects::instance().sm_resources.find(descriptor);
  require(resource != nullptr && resource->ordinal == owner.ordinal(), CUDA_ERROR_INVALID_VALUE);
  const auto green = std::make_shared<const GreenContext>(owner, *resource);
  *handle = Objects::instance().greens.add(green);
  green->set_handle(*handle);
  return CUDA_SUCCESS;
}

CUresult GreenCtxDestroy(CUgreenCtx handle) {
  enter();
  const std::shared_ptr<const GreenContext> green = Objects::instance().greens.remove(handle);
  require(green != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  green->destroy();
  return CUDA_SUCCESS;
}

CUresult CtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  usable_green(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  *context = reinterpret_cast<CUcontext>(handle);
  return CUDA_SUCCESS;
}

CUresult GreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned flags, int priority) {
  const std::shared_ptr<const GreenContext> green = usable_green(handle);
  require(stream != nullptr && flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<Context> context = green->device().context();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  require(context->error() == CUDA_SUCCESS, context->error());
  *stream = Objects::instance().streams.add(
      context->make_stream(SimStream::Kind::kNonBlocking,
                           std::clamp(priority, kGreatestPriority, kLeastPriority), green));
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
