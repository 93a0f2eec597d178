#include "replay/replay_launch.h"

#include <algorithm>
#include <cstring>

#include "driver/driver.h"
#include "driver/simulator.h"
#include "replay/param_block.h"

namespace baton::replay {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);
// Larger clusters need an opt-in.
constexpr unsigned kPortableCluster = 8;

CUlaunchAttribute attribute_of(const record::RecordedAttribute& recorded) {
  CUlaunchAttribute attribute;
  std::memset(&attribute, 0, sizeof attribute);
  attribute.id = static_cast<CUlaunchAttributeID>(recorded.id);
  static_assert(sizeof attribute.value == sizeof recorded.value);
  std::memcpy(&attribute.value, recorded.value.data(), sizeof attribute.value);
  return attribute;
}

}  // namespace

ReplayLaunch::ReplayLaunch(const record::RecordedLaunch& recorded, ReplayedKernel& kernel,
                           const ReplayMemory& memory)
    : recorded_(recorded), kernel_(kernel), params_(recorded.params) {
  is_known_ = (recorded.note.flags & record::kParamsUnknown) == 0;
  const record::KernelOfRecord& facts = *kernel.recorded;
  if (!facts.params_known) {
    memory.relocate(params_.data(), params_.size(), moved_);
    return;
  }
  for (const record::ParamNote& param : facts.params) {
    const std::uint64_t end = std::uint64_t{param.offset} + param.size;
    const std::uint64_t begin = (param.offset + kWord - 1) / kWord * kWord;
    if (end > params_.size() || begin >= end) continue;
    memory.relocate(params_.data() + begin, end - begin, moved_);
  }
  if (auto own = lay_out(params_, facts.params, kernel.params)) params_ = *std::move(own);
}

std::vector<CUlaunchAttribute> ReplayLaunch::attributes(ReplayStreams& streams) const {
  std::vector<CUlaunchAttribute> all;
  const auto event = [&](CUevent& handle) {
    handle = streams.event(reinterpret_cast<std::uintptr_t>(handle));
  };
  for (const record::RecordedAttribute& recorded : recorded_.attributes) {
    CUlaunchAttribute attribute = attribute_of(recorded);
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
      event(attribute.value.programmaticEvent.event);
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
      event(attribute.value.launchCompletionEvent.event);
    } else if (attribute.id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW ||
               attribute.id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE) {
      // Of caches, and for updates that the record lacks.
      continue;
    }
    all.push_back(attribute);
  }
  if ((recorded_.note.flags & record::kCooperative) != 0) {
    CUlaunchAttribute cooperative = attribute_of({CU_LAUNCH_ATTRIBUTE_COOPERATIVE, {}});
    cooperative.value.cooperative = 1;
    all.push_back(cooperative);
  }
  return all;
}

// The opt-ins of the process, for which a record has no events.
void ReplayLaunch::raise_limits(const Device& device) {
  const driver::Driver& driver = device.driver();
  const auto raise = [&](CUfunction_attribute attribute, int value) {
    driver.cuKernelSetAttribute(attribute, value, kernel_.handle, device.native());
  };
  int dynamic = 0;
  driver.cuKernelGetAttribute(&dynamic, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              kernel_.handle, device.native());
  if (recorded_.note.shared_bytes > static_cast<unsigned>(std::max(dynamic, 0))) {
    raise(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          static_cast<int>(recorded_.note.shared_bytes));
  }
  for (const record::RecordedAttribute& recorded : recorded_.attributes) {
    const CUlaunchAttribute attribute = attribute_of(recorded);
    const auto& cluster = attribute.value.clusterDim;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
        std::uint64_t{cluster.x} * cluster.y * cluster.z > kPortableCluster) {
      raise(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    }
  }
}

std::string ReplayLaunch::objection() const {
  if (!is_known_) return "its arguments are not in the record";
  if (moved_.lacks_map) return "one of its tensor maps is of a kind that is not made again";
  return {};
}

std::string ReplayLaunch::submit(const Device& device, ReplayStreams& streams, CUstream stream,
                                 std::uint64_t number) {
  if (std::string why = objection(); !why.empty()) return why;
  const driver::Driver& driver = device.driver();
  const record::LaunchEvent& note = recorded_.note;
  raise_limits(device);
  std::vector<CUlaunchAttribute> attributes = this->attributes(streams);
  CUlaunchConfig config;
  std::memset(&config, 0, sizeof config);
  config.gridDimX = note.grid[0];
  config.gridDimY = note.grid[1];
  config.gridDimZ = note.grid[2];
  config.blockDimX = note.block[0];
  config.blockDimY = note.block[1];
  config.blockDimZ = note.block[2];
  config.sharedMemBytes = note.shared_bytes;
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  Extra extra(params_);
  driver.simulator->note_next_launch({number, {}});
  const CUresult result = driver.cuLaunchKernelEx(
      &config, reinterpret_cast<CUfunction>(kernel_.handle), nullptr, extra.words);
  return result == CUDA_SUCCESS ? std::string() : driver::describe(driver, result);
}

CUDA_KERNEL_NODE_PARAMS ReplayLaunch::node_params(Extra& extra) const {
  const record::LaunchEvent& note = recorded_.note;
  CUDA_KERNEL_NODE_PARAMS params;
  std::memset(&params, 0, sizeof params);
  params.kern = kernel_.handle;
  params.gridDimX = note.grid[0];
  params.gridDimY = note.grid[1];
  params.gridDimZ = note.grid[2];
  params.blockDimX = note.block[0];
  params.blockDimY = note.block[1];
  params.blockDimZ = note.block[2];
  params.sharedMemBytes = note.shared_bytes;
  params.extra = extra.words;
  return params;
}

std::string ReplayLaunch::add_node(const Device& device, ReplayStreams& streams, CUgraph graph,
                                   std::uint64_t number, CUgraphNode* node) {
  if (std::string why = objection(); !why.empty()) return why;
  const driver::Driver& driver = device.driver();
  raise_limits(device);
  Extra extra(params_);
  const CUDA_KERNEL_NODE_PARAMS params = node_params(extra);
  CUresult result = driver.cuGraphAddKernelNode(node, graph, nullptr, 0, &params);
  for (const CUlaunchAttribute& attribute : attributes(streams)) {
    if (result != CUDA_SUCCESS) break;
    result = driver.cuGraphKernelNodeSetAttribute(*node, attribute.id, &attribute.value);
  }
  if (result != CUDA_SUCCESS) return driver::describe(driver, result);
  driver.simulator->note_node(*node, {number, {}});
  return {};
}

std::string ReplayLaunch::update_node(const Device& device, CUgraphExec graph, CUgraphNode node,
                                      std::uint64_t number) {
  if (std::string why = objection(); !why.empty()) return why;
  const driver::Driver& driver = device.driver();
  raise_limits(device);
  Extra extra(params_);
  const CUDA_KERNEL_NODE_PARAMS params = node_params(extra);
  driver.simulator->note_next_launch({number, {}});
  const CUresult result = driver.cuGraphExecKernelNodeSetParams(graph, node, &params);
  return result == CUDA_SUCCESS ? std::string() : driver::describe(driver, result);
}

}  // namespace baton::replay
