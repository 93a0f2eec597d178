#pragma once

#include <memory>
#include <unordered_map>

#include "sim/api/handles.h"
#include "sim/device/array.h"
#include "sim/device/green.h"
#include "sim/device/library.h"
#include "sim/device/link_state.h"
#include "sim/device/pool.h"
#include "sim/device/texture_object.h"
#include "sim/device/virtual_ranges.h"
#include "sim/graph/condition.h"
#include "sim/graph/graph.h"
#include "sim/graph/user_object.h"
#include "sim/queue/event.h"
#include "sim/queue/stream.h"

namespace baton::sim {

// A library as callers hold it, with the handles of its kernels, which are the same at each
// look-up.
struct LoadedLibrary {
  std::shared_ptr<SimLibrary> library;
  std::vector<CUkernel> kernels;  // in the order written
  std::unordered_map<std::string, CUkernel> by_name;
};

// A handle as a pointer. The driver's own, CUmemGenericAllocationHandle, is a number.
using PhysicalHandle = struct PhysicalHandleTag*;

// The live objects of the process, by handle.
struct Objects {
  static Objects& instance();  // never destroyed

  HandleTable<CUstream, SimStream> streams{0x51};
  HandleTable<CUevent, SimEvent> events{0x52};
  HandleTable<CUlibrary, LoadedLibrary> libraries{0x53};
  HandleTable<CUkernel, SimKernel> kernels{0x54};
  HandleTable<CUfunction, SimFunction> functions{0x55};
  HandleTable<CUgraph, SimGraph> graphs{0x56};
  HandleTable<CUgraphNode, GraphNode> graph_nodes{0x57};
  HandleTable<CUgraphExec, GraphExec> graph_execs{0x58};
  HandleTable<ConditionHandle, ConditionValue> conditions{0x59};
  HandleTable<CUmemoryPool, SimPool> pools{0x5a};
  HandleTable<CUlinkState, LinkState> links{0x5b};
  HandleTable<CUgreenCtx, const GreenContext> greens{0x5c};
  HandleTable<CUdevResourceDesc, const SmResource> sm_resources{0x5d};
  HandleTable<CUarray, const SimArray> arrays{0x5e};
  HandleTable<TextureHandle, const TextureObject> textures{0x5f};
  HandleTable<CUuserObject, UserObject> user_objects{0x60};
  HandleTable<CUmipmappedArray, const SimMipmap> mipmaps{0x61};
  HandleTable<PhysicalHandle, PhysicalMemory> physical{0x62};
};

}  // namespace baton::sim
