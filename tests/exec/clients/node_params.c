/* Nodes of graphs and of their instances that get other parameters, and nodes that are off. */
#include "client.h"

enum { kCount = 64 };

static CUfunction twice;

struct Twice {
  CUdeviceptr words;
  unsigned count;
  void* arguments[2];
  CUDA_KERNEL_NODE_PARAMS params;
};

static CUDA_KERNEL_NODE_PARAMS* twice_params(struct Twice* made, CUdeviceptr words) {
  memset(made, 0, sizeof *made);
  made->words = words;
  made->count = kCount;
  made->arguments[0] = &made->words;
  made->arguments[1] = &made->count;
  made->params.func = twice;
  made->params.gridDimX = made->params.gridDimY = made->params.gridDimZ = 1;
  made->params.blockDimX = kCount;
  made->params.blockDimY = made->params.blockDimZ = 1;
  made->params.kernelParams = made->arguments;
  return &made->params;
}

static CUgraphNode add_twice(CUgraph graph, CUgraphNode after, CUdeviceptr words) {
  struct Twice made;
  CUgraphNode node;
  CHECK(cuGraphAddKernelNode(&node, graph, &after, after != NULL, twice_params(&made, words)));
  return node;
}

static CUDA_MEMSET_NODE_PARAMS fill_params(CUdeviceptr words, unsigned value) {
  const CUDA_MEMSET_NODE_PARAMS params = {
      .dst = words, .elementSize = 4, .width = kCount, .height = 1, .value = value};
  return params;
}

static CUDA_MEMCPY3D copy_params(CUdeviceptr from, void* to) {
  CUDA_MEMCPY3D params;
  memset(&params, 0, sizeof params);
  params.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = from;
  params.dstMemoryType = CU_MEMORYTYPE_HOST;
  params.dstHost = to;
  params.WidthInBytes = kCount * sizeof(unsigned);
  params.Height = params.Depth = 1;
  return params;
}

static CUgraph new_graph(void) {
  CUgraph graph;
  CHECK(cuGraphCreate(&graph, 0));
  return graph;
}

static CUgraphExec instantiate(CUgraph graph) {
  CUgraphExec exec;
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  return exec;
}

static CUdeviceptr new_words(unsigned value) {
  CUdeviceptr words;
  CHECK(cuMemAlloc(&words, kCount * sizeof(unsigned)));
  CHECK(cuMemsetD32(words, value, kCount));
  return words;
}

static unsigned first_of(CUdeviceptr words) {
  unsigned value = 0;
  CHECK(cuMemcpyDtoH(&value, words, sizeof value));
  return value;
}

static void run(CUgraphExec exec) {
  CHECK(cuGraphLaunch(exec, NULL));
  CHECK(cuCtxSynchronize());
}

static CUcontext current(void) {
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context));
  return context;
}

/* A graph's nodes change for instances that are made later. */
static void nodes(void) {
  const CUdeviceptr a = new_words(1), b = new_words(1);
  unsigned out[kCount], other[kCount];
  memset(out, 0, sizeof out);
  memset(other, 0, sizeof other);
  const CUgraph graph = new_graph();
  CUgraphNode fill, copy;
  CUDA_MEMSET_NODE_PARAMS set = fill_params(a, 3);
  CHECK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, current()));
  const CUgraphNode kernel = add_twice(graph, fill, a);
  CUDA_MEMCPY3D moved = copy_params(a, out);
  CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &moved, current()));
  const CUgraphExec before = instantiate(graph);

  struct Twice made;
  CHECK(cuGraphKernelNodeSetParams(kernel, twice_params(&made, b)));
  set = fill_params(b, 5);
  CHECK(cuGraphMemsetNodeSetParams(fill, &set));
  moved = copy_params(b, other);
  CHECK(cuGraphMemcpyNodeSetParams(copy, &moved));
  CUDA_MEMSET_NODE_PARAMS told;
  CHECK(cuGraphMemsetNodeGetParams(fill, &told));
  EXPECT(told.dst == b && told.value == 5);
  const CUgraphExec after = instantiate(graph);
  run(before);
  EXPECT(out[0] == 6 && other[0] == 0 && first_of(b) == 1);
  run(after);
  EXPECT(other[0] == 10 && other[kCount - 1] == 10);

  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeSetParams(fill, &made.params));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams(kernel, &set));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphMemcpyNodeSetParams(kernel, &moved));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphMemsetNodeSetParams(fill, NULL));
  CUgraphNodeParams any;
  memset(&any, 0, sizeof any);
  any.type = CU_GRAPH_NODE_TYPE_MEMSET;
  any.memset.dst = a;
  any.memset.value = 7;
  any.memset.elementSize = 4;
  any.memset.width = kCount;
  any.memset.height = 1;
  any.memset.ctx = current();
  CHECK(cuGraphNodeSetParams(fill, &any));
  CHECK(cuGraphMemsetNodeGetParams(fill, &told));
  EXPECT(told.dst == a && told.value == 7);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetParams(kernel, &any));
  CHECK(cuGraphExecDestroy(before));
  CHECK(cuGraphExecDestroy(after));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(a));
  CHECK(cuMemFree(b));
}

/* An instance's nodes change for later launches; the graph stays as it is. */
static void instances(void) {
  const CUdeviceptr a = new_words(1), b = new_words(1);
  unsigned out[kCount], other[kCount];
  memset(out, 0, sizeof out);
  memset(other, 0, sizeof other);
  const CUgraph graph = new_graph();
  CUgraphNode fill, copy;
  CUDA_MEMSET_NODE_PARAMS set = fill_params(a, 3);
  CHECK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, current()));
  const CUgraphNode kernel = add_twice(graph, fill, a);
  CUDA_MEMCPY3D moved = copy_params(a, out);
  CHECK(cuGraphAddMemcpyNode(&copy, graph, &kernel, 1, &moved, current()));
  const CUgraphExec exec = instantiate(graph);

  struct Twice made;
  CHECK(cuGraphExecKernelNodeSetParams(exec, kernel, twice_params(&made, b)));
  set = fill_params(b, 5);
  CHECK(cuGraphExecMemsetNodeSetParams(exec, fill, &set, current()));
  moved = copy_params(b, other);
  CHECK(cuGraphExecMemcpyNodeSetParams(exec, copy, &moved, current()));
  run(exec);
  EXPECT(other[0] == 10 && out[0] == 0 && first_of(a) == 1);

  /* Copies of one row alone, between the same kinds of memory. */
  moved.Height = 2;
  moved.WidthInBytes = 8;
  moved.srcPitch = moved.dstPitch = 16;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuGraphExecMemcpyNodeSetParams(exec, copy, &moved, current()));
  moved = copy_params(b, NULL);
  moved.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  moved.dstDevice = a;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuGraphExecMemcpyNodeSetParams(exec, copy, &moved, current()));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuGraphExecMemsetNodeSetParams(exec, kernel, &set, current()));
  const CUgraph unrelated = new_graph();
  const CUgraphNode foreign = add_twice(unrelated, NULL, a);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuGraphExecKernelNodeSetParams(exec, foreign, &made.params));
  CHECK(cuGraphDestroy(unrelated));

  CUgraphNodeParams any;
  memset(&any, 0, sizeof any);
  any.type = CU_GRAPH_NODE_TYPE_MEMSET;
  any.memset.dst = b;
  any.memset.value = 7;
  any.memset.elementSize = 4;
  any.memset.width = kCount;
  any.memset.height = 1;
  any.memset.ctx = current();
  CHECK(cuGraphExecNodeSetParams(exec, fill, &any));
  run(exec);
  EXPECT(other[0] == 14);
  cuuint64_t flags = 1;
  CHECK(cuGraphExecGetFlags(exec, &flags));
  EXPECT(flags == 0);
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(a));
  CHECK(cuMemFree(b));
}

static void enabled(void) {
  const CUdeviceptr words = new_words(1);
  const CUgraph graph = new_graph();
  CUgraphNode fill, empty;
  const CUDA_MEMSET_NODE_PARAMS set = fill_params(words, 3);
  CHECK(cuGraphAddMemsetNode(&fill, graph, NULL, 0, &set, current()));
  const CUgraphNode first = add_twice(graph, fill, words);
  CHECK(cuGraphAddEmptyNode(&empty, graph, &first, 1));
  const CUgraphNode second = add_twice(graph, empty, words);
  const CUgraphExec exec = instantiate(graph);
  unsigned is_on = 0;
  CHECK(cuGraphNodeGetEnabled(exec, first, &is_on));
  EXPECT(is_on == 1);
  CHECK(cuGraphNodeSetEnabled(exec, first, 0));
  CHECK(cuGraphNodeGetEnabled(exec, first, &is_on));
  EXPECT(is_on == 0);
  run(exec);
  EXPECT(first_of(words) == 6);
  /* Parameters that it gets meanwhile count when it is on again, and updates leave it off. */
  const CUdeviceptr other = new_words(1);
  struct Twice made;
  CHECK(cuGraphExecKernelNodeSetParams(exec, first, twice_params(&made, other)));
  run(exec);
  EXPECT(first_of(other) == 1);
  CHECK(cuGraphNodeSetEnabled(exec, first, 1));
  run(exec);
  EXPECT(first_of(other) == 2 && first_of(words) == 6);
  CHECK(cuGraphNodeSetEnabled(exec, fill, 0));
  CUgraphExecUpdateResultInfo info;
  CHECK(cuGraphExecUpdate(exec, graph, &info));
  CHECK(cuGraphNodeGetEnabled(exec, fill, &is_on));
  EXPECT(is_on == 0);
  run(exec);
  EXPECT(first_of(words) == 24);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeSetEnabled(exec, empty, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphNodeGetEnabled(exec, second, NULL));
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(words));
  CHECK(cuMemFree(other));
}

static void children(void) {
  const CUdeviceptr a = new_words(1), b = new_words(1);
  const CUgraph inner = new_graph();
  add_twice(inner, add_twice(inner, NULL, a), a);
  const CUgraph outer = new_graph();
  const CUgraphNode first = add_twice(outer, NULL, a);
  CUgraphNode child;
  CHECK(cuGraphAddChildGraphNode(&child, outer, &first, 1, inner));
  add_twice(outer, child, a);
  const CUgraphExec exec = instantiate(outer);
  run(exec);
  EXPECT(first_of(a) == 16);
  const CUgraph fresh = new_graph();
  add_twice(fresh, add_twice(fresh, NULL, b), a);
  CHECK(cuGraphExecChildGraphNodeSetParams(exec, child, fresh));
  run(exec);
  EXPECT(first_of(a) == 128 && first_of(b) == 2);
  /* Another topology, and a node that has no graph inside. */
  add_twice(fresh, NULL, b);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, child, fresh));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuGraphExecChildGraphNodeSetParams(exec, first, inner));
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(fresh));
  CHECK(cuGraphDestroy(outer));
  CHECK(cuGraphDestroy(inner));
  CHECK(cuMemFree(a));
  CHECK(cuMemFree(b));
}

static void CUDA_CB count(void* calls) { ++*(int*)calls; }

static void host_and_events(void) {
  int before = 0, after = 0;
  CUevent events[2], told;
  CHECK(cuEventCreate(&events[0], 0));
  CHECK(cuEventCreate(&events[1], 0));
  const CUgraph graph = new_graph();
  CUgraphNode call, record, wait;
  CUDA_HOST_NODE_PARAMS host = {count, &before};
  CHECK(cuGraphAddHostNode(&call, graph, NULL, 0, &host));
  CHECK(cuGraphAddEventRecordNode(&record, graph, &call, 1, events[0]));
  CHECK(cuGraphAddEventWaitNode(&wait, graph, &record, 1, events[1]));
  const CUgraphExec exec = instantiate(graph);
  host.userData = &after;
  CHECK(cuGraphExecHostNodeSetParams(exec, call, &host));
  CHECK(cuGraphExecEventRecordNodeSetEvent(exec, record, events[1]));
  CHECK(cuGraphExecEventWaitNodeSetEvent(exec, wait, events[0]));
  run(exec);
  EXPECT(before == 0 && after == 1);
  CHECK(cuEventQuery(events[1]));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuGraphExecEventRecordNodeSetEvent(exec, wait, events[0]));
  CHECK(cuGraphHostNodeSetParams(call, &host));
  CHECK(cuGraphEventRecordNodeSetEvent(record, events[1]));
  CHECK(cuGraphEventRecordNodeGetEvent(record, &told));
  EXPECT(told == events[1]);
  CHECK(cuGraphEventWaitNodeSetEvent(wait, events[0]));
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuEventDestroy(events[0]));
  CHECK(cuEventDestroy(events[1]));
}

static void attributes(void) {
  const CUdeviceptr words = new_words(1);
  const CUgraph graph = new_graph();
  const CUgraphNode first = add_twice(graph, NULL, words);
  const CUgraphNode second = add_twice(graph, first, words);
  CUlaunchAttributeValue value;
  memset(&value, 0, sizeof value);
  value.priority = -2;
  CHECK(cuGraphKernelNodeSetAttribute(first, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  CHECK(cuGraphKernelNodeCopyAttributes(second, first));
  memset(&value, 0, sizeof value);
  CHECK(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  EXPECT(value.priority == -2);
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(words));
}

int main(void) {
  begin();
  twice = load_twice();
  nodes();
  instances();
  enabled();
  children();
  host_and_events();
  attributes();
  puts("right");
  return 0;
}
