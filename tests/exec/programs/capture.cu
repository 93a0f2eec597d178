// Captures into given graphs, what graphs tell of their kernels, attributes of streams.
#include <cstdio>
#include <cstdlib>

#include "check.cuh"

__global__ void count(int* x, cudaGraphConditionalHandle handle, int end) {
  cudaGraphSetConditional(handle, ++*x < end);
}

void while_node(cudaStream_t stream, int* x) {
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  cudaGraph_t body = params.conditional.phGraph_out[0];
  CHECK(cudaStreamBeginCaptureToGraph(stream, body, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeGlobal));
  count<<<1, 1, 0, stream>>>(x, handle, 10);
  CHECK(cudaStreamEndCapture(stream, nullptr));  // whose graph it is was said

  size_t nodes = 1;
  cudaGraphNode_t kernel;
  CHECK(cudaGraphGetNodes(body, &kernel, &nodes));
  cudaKernelNodeParams told;
  CHECK(cudaGraphKernelNodeGetParams(kernel, &told));
  EXPECT(told.func == reinterpret_cast<void*>(count) && told.gridDim.x == 1);
  EXPECT(*static_cast<int**>(told.kernelParams[0]) == x);

  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, stream));
  int turns = 0;
  CHECK(cudaMemcpyAsync(&turns, x, sizeof turns, cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(turns == 10);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cudaStreamEndCapture(stream, nullptr) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  cudaGraph_t empty;
  CHECK(cudaStreamEndCapture(stream, &empty));
}

void attributes(cudaStream_t stream) {
  cudaStreamAttrValue value = {}, told = {};
  value.syncPolicy = cudaSyncPolicyYield;
  CHECK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &value));
  cudaStream_t other;
  CHECK(cudaStreamCreate(&other));
  CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy, &told));
  EXPECT(told.syncPolicy == cudaSyncPolicyAuto);
  CHECK(cudaStreamCopyAttributes(other, stream));
  CHECK(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy, &told));
  EXPECT(told.syncPolicy == cudaSyncPolicyYield);
  EXPECT(cudaStreamSetAttribute(other, cudaLaunchAttributeCooperative, &value) ==
         cudaErrorInvalidValue);
  cudaGetLastError();
}

void batch(cudaStream_t stream, int* x) {
  int from[2] = {7, 8}, to[2] = {};
  const void* sources[] = {&from[0], &from[1]};
  void* targets[] = {x, x + 1};
  size_t sizes[] = {4, 4}, first = 0;
  cudaMemcpyAttributes how = {};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CHECK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &how, &first, 1, stream));
  CHECK(cudaMemcpyAsync(to, x, sizeof to, cudaMemcpyDefault, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(to[0] == 7 && to[1] == 8);
}

void entry_points() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found));
  EXPECT(function != nullptr && found == cudaDriverEntryPointSuccess);
}

int main() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* x;
  CHECK(cudaMalloc(&x, 64));
  CHECK(cudaMemset(x, 0, 64));
  while_node(stream, x);
  attributes(stream);
  batch(stream, x);
  entry_points();
  std::puts("right");
}
