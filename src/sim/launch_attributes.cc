#include <fmt/format.h>

#include <algorithm>

#include "sim/launch.h"
#include "sim/refusal.h"

namespace baton::sim {
namespace {

using Handler = void (*)(const CUlaunchAttribute& attribute, const Function& function,
                         LaunchRequest& request);

struct Row {
  CUlaunchAttributeID id;
  const char* name;
  Handler handle;
};

const char* name_of(CUlaunchAttributeID id);

void ignore(const CUlaunchAttribute&, const Function&, LaunchRequest&) {}

void refuse_always(const CUlaunchAttribute& attribute, const Function& function, LaunchRequest&) {
  refuse_unsupported(function, fmt::format("launch attribute {} is not supported by the simulated "
                                           "GPU",
                                           name_of(attribute.id)));
}

// For what changes nothing while its value is zero: written or left out, the launch is the same.
void accept_zero(const CUlaunchAttribute& attribute, const Function& function,
                 LaunchRequest& request) {
  const char* bytes = attribute.value.pad;
  if (std::all_of(bytes, bytes + sizeof attribute.value.pad, [](char c) { return c == 0; })) return;
  refuse_always(attribute, function, request);
}

// Attributes of streams and graph nodes alone.
void refuse(const CUlaunchAttribute&, const Function&, LaunchRequest&) {
  throw Refusal(CUDA_ERROR_INVALID_VALUE);
}

// The attributes that record an event: both keep it in the first word.
void event(const CUlaunchAttribute& attribute, const Function& function, LaunchRequest& request) {
  require(attribute.value.programmaticEvent.event != nullptr, CUDA_ERROR_INVALID_HANDLE);
  refuse_always(attribute, function, request);
}

// A cluster of one block, or of no extents at all, is no cluster.
void cluster_dimension(const CUlaunchAttribute& attribute, const Function& function,
                       LaunchRequest& request) {
  const auto& dim = attribute.value.clusterDim;
  if (dim.x == 1 && dim.y == 1 && dim.z == 1) return;
  if (dim.x == 0 && dim.y == 0 && dim.z == 0) return;
  require(dim.x != 0 && dim.y != 0 && dim.z != 0, CUDA_ERROR_INVALID_VALUE);
  require(request.grid.x % dim.x == 0 && request.grid.y % dim.y == 0 && request.grid.z % dim.z == 0,
          CUDA_ERROR_INVALID_CLUSTER_SIZE);
  refuse_unsupported(function, fmt::format("clusters of {} x {} x {} blocks are not supported by "
                                           "the simulated GPU",
                                           dim.x, dim.y, dim.z));
}

constexpr Row kRows[] = {
    {CU_LAUNCH_ATTRIBUTE_IGNORE, "ignore", ignore},
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, "access_policy_window", accept_zero},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, "cooperative", accept_zero},
    {CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, "synchronization_policy", refuse},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, "cluster_dimension", cluster_dimension},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
     "cluster_scheduling_policy_preference", accept_zero},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, "programmatic_stream_serialization",
     accept_zero},
    {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, "programmatic_event", event},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, "priority", accept_zero},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, "mem_sync_domain_map", accept_zero},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, "mem_sync_domain", accept_zero},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, "preferred_cluster_dimension", accept_zero},
    {CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, "launch_completion_event", event},
    {CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, "device_updatable_kernel_node",
     refuse_always},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, "preferred_shared_memory_carveout",
     accept_zero},
    {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, "nvlink_util_centric_scheduling",
     accept_zero},
};

const Row* find(CUlaunchAttributeID id) {
  for (const Row& row : kRows) {
    if (row.id == id) return &row;
  }
  return nullptr;
}

const char* name_of(CUlaunchAttributeID id) {
  return find(id)->name;
}

}  // namespace

void apply_attributes(std::span<const CUlaunchAttribute> attributes, const Function& function,
                      LaunchRequest& request) {
  for (const CUlaunchAttribute& attribute : attributes) {
    const Row* row = find(attribute.id);
    require(row != nullptr, CUDA_ERROR_INVALID_VALUE);
    row->handle(attribute, function, request);
  }
}

}  // namespace baton::sim
