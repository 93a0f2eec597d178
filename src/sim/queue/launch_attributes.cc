#include <algorithm>

#include "chip/chip.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/queue/launch.h"

namespace baton::sim {
namespace {

// Checks one attribute's value and puts into the request what the simulated GPU follows.
using Handler = void (*)(const CUlaunchAttributeValue& value, const Context& context,
                         LaunchRequest& request);

struct LaunchAttributeRow {
  CUlaunchAttributeID id;
  Handler handle;
  int first = 0;  // compute capability that has it
};

// What only says how fast a launch may run, whatever its value.
void ignore(const CUlaunchAttributeValue&, const Context&, LaunchRequest&) {}

void access_policy_window(const CUlaunchAttributeValue& value, const Context& context,
                          LaunchRequest&) {
  const CUaccessPolicyWindow& window = value.accessPolicyWindow;
  const int most = context.profile().at(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
  require(window.num_bytes <= static_cast<std::size_t>(most), CUDA_ERROR_INVALID_VALUE);
  require(window.hitRatio >= 0.0f && window.hitRatio <= 1.0f, CUDA_ERROR_INVALID_VALUE);
  require(window.hitProp >= CU_ACCESS_PROPERTY_NORMAL &&
              window.hitProp <= CU_ACCESS_PROPERTY_PERSISTING,
          CUDA_ERROR_INVALID_VALUE);
  require(window.missProp == CU_ACCESS_PROPERTY_NORMAL ||
              window.missProp == CU_ACCESS_PROPERTY_STREAMING,
          CUDA_ERROR_INVALID_VALUE);
}

void cooperative(const CUlaunchAttributeValue& value, const Context&, LaunchRequest& request) {
  request.cooperative = value.cooperative != 0;
}

void cluster_dimension(const CUlaunchAttributeValue& value, const Context&,
                       LaunchRequest& request) {
  request.cluster = Extent3{value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
}

void preferred_cluster_dimension(const CUlaunchAttributeValue& value, const Context&,
                                 LaunchRequest& request) {
  const auto& dim = value.preferredClusterDim;
  request.preferred_cluster = Extent3{dim.x, dim.y, dim.z};
}

void cluster_scheduling_policy(const CUlaunchAttributeValue& value, const Context&,
                               LaunchRequest&) {
  const int policy = value.clusterSchedulingPolicyPreference;
  require(policy >= CU_CLUSTER_SCHEDULING_POLICY_DEFAULT &&
              policy <= CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING,
          CUDA_ERROR_INVALID_VALUE);
}

void mem_sync_domain_map(const CUlaunchAttributeValue& value, const Context& context,
                         LaunchRequest&) {
  const int count = context.profile().at(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
  require(value.memSyncDomainMap.default_ < count && value.memSyncDomainMap.remote < count,
          CUDA_ERROR_INVALID_VALUE);
}

void mem_sync_domain(const CUlaunchAttributeValue& value, const Context&, LaunchRequest&) {
  const int domain = value.memSyncDomain;
  require(domain >= CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT && domain <= CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE,
          CUDA_ERROR_INVALID_VALUE);
}

// The attributes that record an event.
void record_event(CUevent handle, int flags, Milestone at, const Context& context,
                  LaunchRequest& request) {
  const std::shared_ptr<SimEvent> event = usable_event(handle);
  require(event->context.get() == &context, CUDA_ERROR_INVALID_HANDLE);
  require(!event->timed, CUDA_ERROR_NOT_SUPPORTED);
  require(flags == 0, CUDA_ERROR_ILLEGAL_STATE);
  request.events.push_back({event, at});
}

void programmatic_event(const CUlaunchAttributeValue& value, const Context& context,
                        LaunchRequest& request) {
  record_event(value.programmaticEvent.event, value.programmaticEvent.flags, Milestone::kTriggered,
               context, request);
}

void launch_completion_event(const CUlaunchAttributeValue& value, const Context& context,
                             LaunchRequest& request) {
  record_event(value.launchCompletionEvent.event, value.launchCompletionEvent.flags,
               Milestone::kBegun, context, request);
}

void programmatic_serialization(const CUlaunchAttributeValue& value, const Context&,
                                LaunchRequest& request) {
  request.is_dependent = value.programmaticStreamSerializationAllowed != 0;
}

void device_updatable(const CUlaunchAttributeValue& value, const Context&, LaunchRequest& request) {
  request.device_updatable = value.deviceUpdatableKernelNode.deviceUpdatable != 0;
}

void shared_memory_carveout(const CUlaunchAttributeValue& value, const Context&, LaunchRequest&) {
  require(value.sharedMemCarveout <= 100, CUDA_ERROR_INVALID_VALUE);
}

void nvlink_centric_scheduling(const CUlaunchAttributeValue& value, const Context&,
                               LaunchRequest&) {
  require(value.nvlinkUtilCentricScheduling <= 1, CUDA_ERROR_INVALID_VALUE);
}

// All attributes of launches, with the values that an H200 accepts (driver 580.159). An older
// device refuses attributes that it lacks.
constexpr LaunchAttributeRow kLaunchAttributeRows[] = {
    {CU_LAUNCH_ATTRIBUTE_IGNORE, ignore},
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, access_policy_window},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, cooperative},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cluster_dimension, chip::kFirstWithClusters},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, cluster_scheduling_policy,
     chip::kFirstWithClusters},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, programmatic_serialization,
     chip::kFirstWithPdl},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, programmatic_event, chip::kFirstWithPdl},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, ignore},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, mem_sync_domain_map, chip::kFirstWithMemSyncDomains},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, mem_sync_domain, chip::kFirstWithMemSyncDomains},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, preferred_cluster_dimension,
     chip::kFirstWithClusters},
    {CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, launch_completion_event},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, device_updatable},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, shared_memory_carveout},
    {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, nvlink_centric_scheduling},
};

}  // namespace

void apply_attributes(std::span<const CUlaunchAttribute> attributes, const Context& context,
                      LaunchRequest& request) {
  for (const CUlaunchAttribute& attribute : attributes) {
    const auto row =
        std::find_if(std::begin(kLaunchAttributeRows), std::end(kLaunchAttributeRows),
                     [&](const LaunchAttributeRow& each) { return each.id == attribute.id; });
    require(row != std::end(kLaunchAttributeRows), CUDA_ERROR_INVALID_VALUE);
    require(context.profile().architecture() >= row->first, CUDA_ERROR_NOT_SUPPORTED);
    row->handle(attribute.value, context, request);
  }
}

}  // namespace baton::sim
