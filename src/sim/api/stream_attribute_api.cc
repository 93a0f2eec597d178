// Attributes of streams. They are kept, to be asked for: caches, domains of memory and ways of
// waiting are not simulated.

#include <algorithm>
#include <iterator>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/refusal.h"
#include "sim/queue/stream.h"

namespace baton::sim::api {
namespace {

constexpr CUstreamAttrID kKeptAttributes[] = {
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN};

// The value of an attribute that a stream was not given.
CUstreamAttrValue usual_value(CUstreamAttrID attribute) {
  CUstreamAttrValue value{};
  if (attribute == CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY) {
    value.syncPolicy = CU_SYNC_POLICY_AUTO;
  }
  if (attribute == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP) value.memSyncDomainMap.remote = 1;
  return value;
}

}  // namespace

CUresult StreamSetAttribute(CUstream handle, CUstreamAttrID attribute,
                            const CUstreamAttrValue* value) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(value != nullptr && std::ranges::count(kKeptAttributes, attribute) != 0,
          CUDA_ERROR_INVALID_VALUE);
  std::lock_guard lock(Scheduler::instance().mutex);
  stream->attributes[attribute] = *value;
  return CUDA_SUCCESS;
}

CUresult StreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    value->priority = stream->priority;
    return CUDA_SUCCESS;
  }
  require(std::ranges::count(kKeptAttributes, attribute) != 0, CUDA_ERROR_INVALID_VALUE);
  std::lock_guard lock(Scheduler::instance().mutex);
  const auto found = stream->attributes.find(attribute);
  *value = found == stream->attributes.end() ? usual_value(attribute) : found->second;
  return CUDA_SUCCESS;
}

CUresult StreamCopyAttributes(CUstream to_handle, CUstream from_handle) {
  const std::shared_ptr<SimStream> to = usable_stream(to_handle);
  const std::shared_ptr<SimStream> from = usable_stream(from_handle);
  std::lock_guard lock(Scheduler::instance().mutex);
  to->attributes = from->attributes;
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
