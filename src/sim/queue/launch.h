#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/device/kernel_attributes.h"
#include "sim/device/library.h"
#include "sim/device/occupancy.h"
#include "sim/engine/run/engine.h"
#include "sim/queue/event.h"

namespace baton::sim {

// A launch as a caller asks for it, before it is checked against kernel and device.
struct LaunchRequest {
  Extent3 grid;
  Extent3 block;
  std::uint32_t dynamic_shared = 0;
  bool cooperative = false;
  std::optional<Extent3> cluster;
  std::optional<Extent3> preferred_cluster;
  bool is_dependent = false;      // need not wait for its predecessor in the stream to complete
  bool device_updatable = false;  // for nodes of graphs alone
  // To be recorded when all blocks have begun, or triggered.
  struct EarlyEvent {
    std::shared_ptr<SimEvent> event;
    Milestone at;
  };
  std::vector<EarlyEvent> events;
  SmList sms;  // that it may run on
  void** params = nullptr;
  void** extra = nullptr;
};

// Reads the attributes of a launch on the context into the request (launch_attributes.cc has one
// handler for each kind). Throws Refusal with the driver's code for what is not an attribute of a
// launch (CUDA_ERROR_INVALID_VALUE) or has a value that none may have.
void apply_attributes(std::span<const CUlaunchAttribute> attributes, const Context& context,
                      LaunchRequest& request);

// Holds the request against the limits of kernel and device, with the driver's own codes, and
// copies the arguments. Throws Refusal.
GridLaunch make_grid(const LaunchRequest& request, const SimFunction& function);

// What a block of the launch takes of a multiprocessor.
chip::BlockNeeds needs_of(const LaunchRequest& request, const KernelView& view);

// --- Clusters (cluster.cc) ---

// Blocks that a cluster of the kernel may have.
std::uint32_t largest_cluster(const KernelView& view);
// The cluster of a launch: what the image requires, else what the launch or the kernel's settings
// ask for; nothing without any. Throws Refusal(CUDA_ERROR_INVALID_CLUSTER_SIZE) where they
// contradict each other or have more blocks than the kernel may.
std::optional<Extent3> cluster_of(const LaunchRequest& request, const KernelView& view);
// Checks the cluster against the grid, and the preferred cluster against both. Throws Refusal.
void check_cluster(const LaunchRequest& request, const std::optional<Extent3>& cluster);

}  // namespace baton::sim
