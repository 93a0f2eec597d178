// Graphs by the CUDA runtime: in others, with memory, with conditions, and what they keep alive.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "check.cuh"

__global__ void twice(int* x) { *x *= 2; }

__global__ void count_down(int* x, cudaGraphConditionalHandle go_on) {
  cudaGraphSetConditional(go_on, --*x > 0 ? 1 : 0);
}

cudaKernelNodeParams twice_params(int** x, void** arguments) {
  arguments[0] = x;
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(twice);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  return params;
}

cudaGraphNode_t add_twice(cudaGraph_t graph, int* x, cudaGraphNode_t after = nullptr) {
  void* arguments[1];
  const cudaKernelNodeParams params = twice_params(&x, arguments);
  cudaGraphNode_t node;
  CHECK(cudaGraphAddKernelNode(&node, graph, &after, after != nullptr, &params));
  return node;
}

void run(cudaGraph_t graph) {
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(exec));
}

void set(int* x, int value) { CHECK(cudaMemcpy(x, &value, sizeof value, cudaMemcpyHostToDevice)); }

int value_of(const int* x) {
  int value = 0;
  CHECK(cudaMemcpy(&value, x, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

void children_and_clones(int* x) {
  cudaGraph_t inner, outer, clone, same;
  CHECK(cudaGraphCreate(&inner, 0));
  add_twice(inner, x, add_twice(inner, x));
  CHECK(cudaGraphCreate(&outer, 0));
  const cudaGraphNode_t first = add_twice(outer, x);
  cudaGraphNode_t child, found;
  CHECK(cudaGraphAddChildGraphNode(&child, outer, &first, 1, inner));
  CHECK(cudaGraphDestroy(inner));
  CHECK(cudaGraphChildGraphNodeGetGraph(child, &same));
  size_t count = 0;
  CHECK(cudaGraphGetNodes(same, nullptr, &count));
  EXPECT(count == 2);
  CHECK(cudaGraphNodeGetDependencies(child, &found, nullptr, &(count = 1)));
  EXPECT(count == 1 && found == first);
  CHECK(cudaGraphNodeGetDependentNodes(first, &found, nullptr, &count));
  EXPECT(count == 1 && found == child);
  CHECK(cudaGraphClone(&clone, outer));
  CHECK(cudaGraphNodeFindInClone(&found, first, clone));
  EXPECT(found != first);
  set(x, 1);
  run(clone);
  EXPECT(value_of(x) == 8);
  CHECK(cudaGraphDestroyNode(child));
  run(outer);
  EXPECT(value_of(x) == 16);
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(outer));
}

void memory() {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams params{};
  params.poolProps.allocType = cudaMemAllocationTypePinned;
  params.poolProps.location.type = cudaMemLocationTypeDevice;
  params.bytesize = sizeof(int);
  cudaGraphNode_t alloc, release;
  CHECK(cudaGraphAddMemAllocNode(&alloc, graph, nullptr, 0, &params));
  cudaMemsetParams zero{};
  zero.dst = params.dptr;
  zero.value = 21;
  zero.elementSize = 4;
  zero.width = zero.height = 1;
  cudaGraphNode_t fill;
  CHECK(cudaGraphAddMemsetNode(&fill, graph, &alloc, 1, &zero));
  cudaMemsetParams told{};
  CHECK(cudaGraphMemsetNodeGetParams(fill, &told));
  EXPECT(told.dst == params.dptr && told.value == 21 && told.width == 1);
  const cudaGraphNode_t doubled = add_twice(graph, static_cast<int*>(params.dptr), fill);
  int result = 0;
  cudaGraphNode_t copy;
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, &doubled, 1, &result, params.dptr, sizeof result,
                                 cudaMemcpyDeviceToHost));
  cudaMemcpy3DParms copied{};
  CHECK(cudaGraphMemcpyNodeGetParams(copy, &copied));
  EXPECT(copied.dstPtr.ptr == &result && copied.srcPtr.ptr == params.dptr);
  EXPECT(copied.extent.width == 4 && copied.kind == cudaMemcpyDeviceToHost);
  CHECK(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, params.dptr));
  cudaMemAllocNodeParams allocated{};
  CHECK(cudaGraphMemAllocNodeGetParams(alloc, &allocated));
  EXPECT(allocated.dptr == params.dptr && allocated.bytesize == sizeof(int));
  void* freed = nullptr;
  CHECK(cudaGraphMemFreeNodeGetParams(release, &freed));
  EXPECT(freed == params.dptr);
  run(graph);
  EXPECT(result == 42);
  unsigned long long bytes = 1;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
  EXPECT(bytes == sizeof(int));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &bytes));
  EXPECT(bytes == sizeof(int));
  CHECK(cudaDeviceGraphMemTrim(0));
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &bytes));
  EXPECT(bytes == 0);
  CHECK(cudaGraphDestroy(graph));
}

std::atomic<bool> destroyed{false};

void user_objects(int* x) {
  cudaUserObject_t object;
  const auto destroy = [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; };
  CHECK(cudaUserObjectCreate(&object, &destroyed, destroy, 1, cudaUserObjectNoDestructorSync));
  CHECK(cudaUserObjectRetain(object, 1));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  add_twice(graph, x);
  CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  CHECK(cudaUserObjectRelease(object, 1));
  run(graph);
  EXPECT(!destroyed);
  CHECK(cudaGraphReleaseUserObject(graph, object, 1));
  CHECK(cudaDeviceSynchronize());
  while (!destroyed) {
  }
  CHECK(cudaGraphDestroy(graph));
}

// Doubles as often as the number says.
void conditions(int* x, int* left) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle go_on;
  CHECK(cudaGraphConditionalHandleCreate(&go_on, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = go_on;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
  const cudaGraph_t body = loop.conditional.phGraph_out[0];
  void* arguments[1];
  const cudaKernelNodeParams plain = twice_params(&x, arguments);
  cudaGraphNodeParams kernel{};
  kernel.type = cudaGraphNodeTypeKernel;
  kernel.kernel.func = plain.func;
  kernel.kernel.gridDim = plain.gridDim;
  kernel.kernel.blockDim = plain.blockDim;
  kernel.kernel.kernelParams = plain.kernelParams;
  CHECK(cudaGraphAddNode(&node, body, nullptr, nullptr, 0, &kernel));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCaptureToGraph(stream, body, &node, nullptr, 1,
                                      cudaStreamCaptureModeGlobal));
  count_down<<<1, 1, 0, stream>>>(left, go_on);
  cudaGraph_t same;
  CHECK(cudaStreamEndCapture(stream, &same));
  EXPECT(same == body);
  set(x, 1);
  set(left, 5);
  run(graph);
  EXPECT(value_of(x) == 32);
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaGraphDestroy(graph));
}

int main() {
  int *x, *left;
  CHECK(cudaMalloc(&x, sizeof *x));
  CHECK(cudaMalloc(&left, sizeof *left));
  children_and_clones(x);
  memory();
  user_objects(x);
  conditions(x, left);
  CHECK(cudaFree(x));
  CHECK(cudaFree(left));
  std::puts("right");
}
