#pragma once

#include <cuda.h>

#include <optional>
#include <vector>

#include "sim/graph/graph.h"

// What nodes of graphs do, made of the parameters that callers give. Each function throws Refusal
// for parameters that the driver refuses.
namespace baton::sim::api {

// With the attributes of the node.
KernelWork kernel_work(const CUDA_KERNEL_NODE_PARAMS* params,
                       std::vector<CUlaunchAttribute> attributes);
// The same node with other attributes. Its launch is checked against kernel and device anew.
KernelWork with_attributes(const KernelWork& work, std::vector<CUlaunchAttribute> attributes);
CopyWork memcpy_work(const CUDA_MEMCPY3D* params);
Fill memset_work(const CUDA_MEMSET_NODE_PARAMS* params);
HostCall host_work(const CUDA_HOST_NODE_PARAMS* params);

// What a node of any type does. Nothing for the types whose nodes own something: conditionals,
// child graphs and memory. A kernel gets these attributes.
std::optional<NodeWork> any_work(const CUgraphNodeParams& params,
                                 std::vector<CUlaunchAttribute> attributes);

// The parameters of a kernel node without what CUDA 12 added to them.
CUDA_KERNEL_NODE_PARAMS widened(const CUDA_KERNEL_NODE_PARAMS_v1* params);

}  // namespace baton::sim::api
