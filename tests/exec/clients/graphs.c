/* Graphs that allocate, that are in others, that change, and what they keep alive. */
#include <unistd.h>

#include "client.h"

enum { kCount = 64 };

static CUfunction twice;

static CUgraphNode add_twice(CUgraph graph, CUgraphNode after, CUdeviceptr words) {
  unsigned count = kCount;
  void* arguments[] = {&words, &count};
  CUDA_KERNEL_NODE_PARAMS params;
  memset(&params, 0, sizeof params);
  params.func = twice;
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = 64;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  CUgraphNode node;
  CHECK(cuGraphAddKernelNode(&node, graph, &after, after != NULL, &params));
  return node;
}

static CUgraph new_graph(void) {
  CUgraph graph;
  CHECK(cuGraphCreate(&graph, 0));
  return graph;
}

static CUgraphExec instantiate(CUgraph graph, unsigned long long flags) {
  CUgraphExec exec;
  CHECK(cuGraphInstantiate(&exec, graph, flags));
  return exec;
}

static void run(CUgraph graph, CUstream stream) {
  const CUgraphExec exec = instantiate(graph, 0);
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuGraphExecDestroy(exec));
}

static CUdeviceptr counted(void) {
  unsigned words[kCount];
  count_up(words, kCount);
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, sizeof words));
  CHECK(cuMemcpyHtoD(memory, words, sizeof words));
  return memory;
}

static int holds(CUdeviceptr memory, unsigned factor) {
  unsigned words[kCount];
  CHECK(cuMemcpyDtoH(words, memory, sizeof words));
  return is_scaled(words, kCount, factor);
}

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(void) {
  CUDA_MEM_ALLOC_NODE_PARAMS params;
  memset(&params, 0, sizeof params);
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  params.bytesize = kCount * sizeof(unsigned);
  return params;
}

static cuuint64_t graph_memory(CUgraphMem_attribute attribute) {
  cuuint64_t bytes = 0;
  CHECK(cuDeviceGetGraphMemAttribute(0, attribute, &bytes));
  return bytes;
}

/* Memory that one graph allocates and does not free. */
static void memory(CUstream stream) {
  const CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
  CUgraphNode alloc, fill;
  CHECK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  EXPECT(params.dptr != 0);
  CUDA_MEMSET_NODE_PARAMS set = {
      .dst = params.dptr, .elementSize = 4, .width = kCount, .height = 1, .value = 3};
  CHECK(cuGraphAddMemsetNode(&fill, graph, &alloc, 1, &set, NULL));
  add_twice(graph, fill, params.dptr);
  CUDA_MEM_ALLOC_NODE_PARAMS told;
  CHECK(cuGraphMemAllocNodeGetParams(alloc, &told));
  EXPECT(told.dptr == params.dptr && told.bytesize == params.bytesize);
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuGraphDestroyNode(fill));

  const CUgraphExec exec = instantiate(graph, 0);
  CUgraphExec second;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&second, graph, 0));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == params.bytesize);
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == params.bytesize);
  CHECK(cuDeviceGraphMemTrim(0));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == params.bytesize);
  unsigned word = 0;
  CHECK(cuMemcpyDtoH(&word, params.dptr, sizeof word));
  EXPECT(word == 6);
  /* Nobody freed it. */
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));
  CHECK(cuMemFreeAsync(params.dptr, stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(params.dptr, stream));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuMemFree(params.dptr));
  /* It stays reserved for the graph, until a trim. */
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == params.bytesize);
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == params.bytesize);
  CHECK(cuDeviceGraphMemTrim(0));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == 0);
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == params.bytesize);
  cuuint64_t none = 0, some = 1;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &some));
  CHECK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &none));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == 0);
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) == params.bytesize);
  CHECK(cuGraphExecDestroy(exec));

  /* Another instance frees what its last launch allocated. */
  const CUgraphExec again = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
  CHECK(cuGraphLaunch(again, stream));
  CHECK(cuGraphLaunch(again, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuGraphExecDestroy(again));
  CHECK(cuGraphDestroy(graph));
  /* What a launch allocated outlives the graph. */
  CHECK(cuMemcpyDtoH(&word, params.dptr, sizeof word));
  EXPECT(word == 6);
  CHECK(cuMemFree(params.dptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree(params.dptr));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == params.bytesize);
  CHECK(cuDeviceGraphMemTrim(0));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
}

static void free_nodes(CUstream stream) {
  const CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
  CUgraphNode alloc, release, other;
  CHECK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  CHECK(cuGraphAddMemFreeNode(&release, graph, &alloc, 1, params.dptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuGraphAddMemFreeNode(&other, graph, &alloc, 1, params.dptr));
  CUdeviceptr told = 0;
  CHECK(cuGraphMemFreeNodeGetParams(release, &told));
  EXPECT(told == params.dptr);
  const CUgraphExec exec = instantiate(graph, 0);
  for (int k = 0; k < 3; ++k) CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == params.bytesize);
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  /* No graph has it any more, once the device has put its last work away. Other graphs may get it.
   */
  for (int k = 0; graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) != 0; ++k) {
    EXPECT(k < 10000);
    usleep(1000);
  }
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) == params.bytesize);
}

/* Memory of a graph that the host reads at the same address. */
static void host_memory(CUstream stream) {
  const CUmemAllocationType types[] = {CU_MEM_ALLOCATION_TYPE_MANAGED,
                                       CU_MEM_ALLOCATION_TYPE_PINNED};
  for (int k = 0; k < 2; ++k) {
    const CUgraph graph = new_graph();
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
    params.poolProps.allocType = types[k];
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST;
    CUgraphNode alloc, fill;
    CHECK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = params.dptr, .elementSize = 4, .width = kCount, .height = 1, .value = 3};
    CHECK(cuGraphAddMemsetNode(&fill, graph, &alloc, 1, &set, NULL));
    add_twice(graph, fill, params.dptr);
    CUDA_MEM_ALLOC_NODE_PARAMS told;
    CHECK(cuGraphMemAllocNodeGetParams(alloc, &told));
    EXPECT(told.poolProps.allocType == types[k] && told.dptr == params.dptr);
    EXPECT(told.poolProps.location.type == CU_MEM_LOCATION_TYPE_HOST);
    run(graph, stream);
    const unsigned* const words = (const unsigned*)params.dptr;
    EXPECT(words[0] == 6 && words[kCount - 1] == 6);
    EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == params.bytesize);
    CHECK(cuGraphDestroy(graph));
    CHECK(cuMemFreeAsync(params.dptr, stream));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuDeviceGraphMemTrim(0));
    EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
    EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree(params.dptr));
  }
}

/* A graph that frees memory of another graph, which is gone by then. */
static void foreign_free(CUstream stream) {
  const CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
  CUgraphNode alloc, release;
  CHECK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  const CUgraph freeing = new_graph();
  CHECK(cuGraphAddMemFreeNode(&release, freeing, NULL, 0, params.dptr));
  const CUgraphExec free_exec = instantiate(freeing, 0);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(free_exec, stream));
  run(graph, stream);
  CHECK(cuGraphDestroy(graph));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == params.bytesize);
  CHECK(cuGraphLaunch(free_exec, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuDeviceGraphMemTrim(0));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(free_exec, stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree(params.dptr));
  CHECK(cuGraphExecDestroy(free_exec));
  CHECK(cuGraphDestroy(freeing));
}

static volatile int opened = 0;
static void CUDA_CB wait_opened(void* data) {
  (void)data;
  while (!opened) usleep(1000);
}

/* The graph goes while the call that frees its memory waits for its turn. */
static void pending_free(CUstream stream) {
  const CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
  CUgraphNode alloc;
  CHECK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  run(graph, stream);
  CHECK(cuLaunchHostFunc(stream, wait_opened, NULL));
  CHECK(cuMemFreeAsync(params.dptr, stream));
  CHECK(cuGraphDestroy(graph));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(params.dptr, stream));
  opened = 1;
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuDeviceGraphMemTrim(0));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
}

/* A launch that allocates what another stream is about to free. */
static void relaunch(CUstream stream) {
  CUstream other;
  CUevent event;
  CHECK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const CUgraph graph = new_graph();
  CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params();
  CUgraphNode alloc;
  CHECK(cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
  const CUgraphExec exec = instantiate(graph, 0);
  for (int k = 0; k < 3; ++k) {
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuStreamWaitEvent(other, event, 0));
    CHECK(cuMemFreeAsync(params.dptr, other));
  }
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemFree(params.dptr));
  CHECK(cuDeviceGraphMemTrim(0));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuEventDestroy(event));
  CHECK(cuStreamDestroy(other));
}

/* What a copy node was made with; that it reads memory of the host which devices see as well. */
static void copies(CUstream stream) {
  const CUdeviceptr words = counted();
  void* pinned = NULL;
  CHECK(cuMemAllocHost(&pinned, 16));
  CUDA_MEMCPY3D made;
  memset(&made, 0, sizeof made);
  made.srcMemoryType = CU_MEMORYTYPE_HOST;
  made.srcHost = pinned;
  made.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  made.dstDevice = words;
  made.dstXInBytes = 4;
  made.WidthInBytes = 8;
  made.Height = made.Depth = 1;
  const CUgraph graph = new_graph();
  CUgraphNode node;
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context));
  CHECK(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &made, context));
  CUDA_MEMCPY3D told;
  CHECK(cuGraphMemcpyNodeGetParams(node, &told));
  EXPECT(told.srcMemoryType == CU_MEMORYTYPE_HOST && told.srcHost == pinned);
  EXPECT(told.dstMemoryType == CU_MEMORYTYPE_DEVICE && told.dstDevice == words);
  EXPECT(told.dstXInBytes == 4 && told.WidthInBytes == 8 && told.Height == 1);
  CHECK(cuGraphDestroy(graph));

  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CHECK(cuMemcpyHtoDAsync(words, pinned, 16, stream));
  CUgraph captured;
  CHECK(cuStreamEndCapture(stream, &captured));
  size_t count = 1;
  CHECK(cuGraphGetNodes(captured, &node, &count));
  CHECK(cuGraphMemcpyNodeGetParams(node, &told));
  EXPECT(told.srcMemoryType == CU_MEMORYTYPE_HOST && told.srcHost == pinned);
  EXPECT(told.dstMemoryType == CU_MEMORYTYPE_DEVICE && told.dstDevice == words);
  CHECK(cuGraphDestroy(captured));
  CHECK(cuMemFreeHost(pinned));
  CHECK(cuMemFree(words));
}

static CUresult add_conditional(CUgraphNode* node, CUgraph* body, CUgraph graph,
                                CUgraphConditionalHandle condition) {
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context));
  CUgraphNodeParams params;
  memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = condition;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = context;
  const CUresult result = cuGraphAddNode(node, graph, NULL, NULL, 0, &params);
  if (result == CUDA_SUCCESS) *body = params.conditional.phGraph_out[0];
  return result;
}

/* Another node may use the conditions of one that is gone, and those of nodes in its body. */
static void conditions(CUstream stream) {
  const CUdeviceptr words = counted();
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context));
  const CUgraph graph = new_graph();
  CUgraphConditionalHandle outer, inner;
  CHECK(cuGraphConditionalHandleCreate(&outer, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CHECK(cuGraphConditionalHandleCreate(&inner, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNode node, second;
  CUgraph body, inner_body;
  CHECK(add_conditional(&node, &body, graph, outer));
  CHECK(add_conditional(&second, &inner_body, body, inner));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, add_conditional(&second, &body, graph, outer));
  CHECK(cuGraphDestroyNode(node));
  CHECK(add_conditional(&node, &body, graph, outer));
  CHECK(add_conditional(&second, &inner_body, body, inner));
  add_twice(inner_body, NULL, words);
  run(graph, stream);
  EXPECT(holds(words, 2));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(words));
}

static void children(CUstream stream) {
  const CUdeviceptr words = counted();
  const CUgraph inner = new_graph();
  add_twice(inner, add_twice(inner, NULL, words), words);
  const CUgraph outer = new_graph();
  const CUgraphNode first = add_twice(outer, NULL, words);
  CUgraphNode child;
  CHECK(cuGraphAddChildGraphNode(&child, outer, &first, 1, inner));
  CHECK(cuGraphDestroy(inner));
  add_twice(outer, child, words);
  CUgraphNodeType type;
  CHECK(cuGraphNodeGetType(child, &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_GRAPH);
  CUgraph own;
  CHECK(cuGraphChildGraphNodeGetGraph(child, &own));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(own));
  size_t count = 0;
  CHECK(cuGraphGetNodes(own, NULL, &count));
  EXPECT(count == 2);
  run(outer, stream);
  EXPECT(holds(words, 16));

  CUgraph copy;
  CHECK(cuGraphClone(&copy, outer));
  CUgraphNode same;
  CHECK(cuGraphNodeFindInClone(&same, first, copy));
  EXPECT(same != first);
  CHECK(cuGraphDestroy(outer));
  run(copy, stream);
  EXPECT(holds(words, 256));
  CHECK(cuGraphDestroy(copy));
  CHECK(cuMemFree(words));
}

static void changes(CUstream stream) {
  const CUdeviceptr words = counted();
  const CUgraph graph = new_graph();
  const CUgraphNode first = add_twice(graph, NULL, words);
  const CUgraphNode second = add_twice(graph, first, words);
  const CUgraphNode third = add_twice(graph, second, words);
  CUgraphNode found = NULL;
  size_t count = 1;
  CHECK(cuGraphNodeGetDependencies(third, &found, NULL, &count));
  EXPECT(count == 1 && found == second);
  CHECK(cuGraphNodeGetDependentNodes(first, &found, NULL, &count));
  EXPECT(count == 1 && found == second);
  CHECK(cuGraphDestroyNode(second));
  CHECK(cuGraphNodeGetDependencies(third, NULL, NULL, &count));
  EXPECT(count == 0);
  CHECK(cuGraphAddDependencies(graph, &first, &third, NULL, 1));
  CHECK(cuGraphRemoveDependencies(graph, &first, &third, NULL, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuGraphRemoveDependencies(graph, &first, &third, NULL, 1));
  CHECK(cuGraphAddDependencies(graph, &first, &third, NULL, 1));
  CUDA_KERNEL_NODE_PARAMS params;
  CHECK(cuGraphKernelNodeGetParams(third, &params));
  EXPECT(params.func == twice && params.blockDimX == 64 && params.gridDimX == 1);
  EXPECT(*(const CUdeviceptr*)params.kernelParams[0] == words);
  run(graph, stream);
  EXPECT(holds(words, 4));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(words));
}

static volatile int destroyed = 0;
static void CUDA_CB note_destroyed(void* data) {
  destroyed = *(int*)data;
}

static void wait_destroyed(void) {
  for (int k = 0; k < 10000 && destroyed == 0; ++k) usleep(1000);
  EXPECT(destroyed == 7);
}

static void users(CUstream stream) {
  static int seven = 7;
  CUuserObject object;
  CHECK(cuUserObjectCreate(&object, &seven, note_destroyed, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  const CUgraph graph = new_graph();
  CHECK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphReleaseUserObject(graph, object, 2));
  const CUgraphExec exec = instantiate(graph, 0);
  CHECK(cuGraphDestroy(graph));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(destroyed == 0);
  CHECK(cuGraphExecDestroy(exec));
  wait_destroyed();
}

/* A capture that goes on in a given graph, behind given nodes. */
static void captures(CUstream stream) {
  const CUdeviceptr words = counted();
  const CUgraph graph = new_graph();
  const CUgraphNode first = add_twice(graph, NULL, words);
  CHECK(cuStreamBeginCaptureToGraph(stream, graph, &first, NULL, 1, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch_twice(twice, words, kCount, stream);
  CUgraphNode third = NULL;
  {
    CUstreamCaptureStatus status;
    const CUgraphNode* behind = NULL;
    size_t count = 0;
    CHECK(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &behind, NULL, &count));
    EXPECT(count == 1);
    third = add_twice(graph, behind[0], words);
  }
  CHECK(cuStreamUpdateCaptureDependencies(stream, &third, NULL, 1,
                                          CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  launch_twice(twice, words, kCount, stream);
  CUgraph same = NULL;
  CHECK(cuStreamEndCapture(stream, &same));
  EXPECT(same == graph);
  run(graph, stream);
  EXPECT(holds(words, 16));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(words));
}

int main(void) {
  begin();
  twice = load_twice();
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  memory(stream);
  free_nodes(stream);
  host_memory(stream);
  foreign_free(stream);
  pending_free(stream);
  relaunch(stream);
  copies(stream);
  conditions(stream);
  children(stream);
  changes(stream);
  users(stream);
  captures(stream);
  return 0;
}
