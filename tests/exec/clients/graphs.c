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
  unsigned word = 0;
  CHECK(cuMemcpyDtoH(&word, params.dptr, sizeof word));
  EXPECT(word == 6);
  /* Nobody freed it. */
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch(exec, stream));
  CHECK(cuMemFreeAsync(params.dptr, stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFreeAsync(params.dptr, stream));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuMemFree(params.dptr));
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) == params.bytesize);
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
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT) == 0);
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
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
  children(stream);
  changes(stream);
  users(stream);
  captures(stream);
  return 0;
}
