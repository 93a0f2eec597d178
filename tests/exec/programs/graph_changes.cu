// Nodes of graphs and of their instances that get other parameters, by the CUDA runtime.
#include <cstdio>
#include <cstdlib>

#include "check.cuh"

__device__ int factor = 2;

__global__ void multiply(int* x) { *x *= factor; }

struct Graph {
  cudaGraph_t graph;
  cudaGraphNode_t fill, symbol, kernel, copy, call;
  int result = 0;
  int calls = 0;
};

cudaMemsetParams fill_params(int* x, int value) {
  cudaMemsetParams params{};
  params.dst = x;
  params.value = value;
  params.elementSize = 4;
  params.width = params.height = 1;
  return params;
}

cudaKernelNodeParams kernel_params(int** x, void** arguments) {
  arguments[0] = x;
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(multiply);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  return params;
}

void count(void* calls) { ++*static_cast<int*>(calls); }

// x = 3; factor = *new_factor; x *= factor; result = x; ++calls
void build(Graph* made, int* x, int* new_factor) {
  CHECK(cudaGraphCreate(&made->graph, 0));
  const cudaMemsetParams fill = fill_params(x, 3);
  CHECK(cudaGraphAddMemsetNode(&made->fill, made->graph, nullptr, 0, &fill));
  CHECK(cudaGraphAddMemcpyNodeToSymbol(&made->symbol, made->graph, &made->fill, 1, factor,
                                       new_factor, sizeof factor, 0, cudaMemcpyHostToDevice));
  void* arguments[1];
  const cudaKernelNodeParams kernel = kernel_params(&x, arguments);
  CHECK(cudaGraphAddKernelNode(&made->kernel, made->graph, &made->symbol, 1, &kernel));
  CHECK(cudaGraphAddMemcpyNode1D(&made->copy, made->graph, &made->kernel, 1, &made->result, x,
                                 sizeof(int), cudaMemcpyDeviceToHost));
  const cudaHostNodeParams call{count, &made->calls};
  CHECK(cudaGraphAddHostNode(&made->call, made->graph, &made->copy, 1, &call));
}

void run(cudaGraphExec_t exec) {
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
}

int main() {
  int *x, *y;
  CHECK(cudaMalloc(&x, sizeof *x));
  CHECK(cudaMalloc(&y, sizeof *y));
  int seven = 7, five = 5, result = 0, calls = 0;
  Graph made;
  build(&made, x, &seven);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, made.graph, 0));
  run(exec);
  EXPECT(made.result == 21 && made.calls == 1);

  // The instance alone.
  void* arguments[1];
  const cudaKernelNodeParams kernel = kernel_params(&y, arguments);
  const cudaMemsetParams fill = fill_params(y, 4);
  const cudaHostNodeParams call{count, &calls};
  CHECK(cudaGraphExecMemsetNodeSetParams(exec, made.fill, &fill));
  CHECK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, made.symbol, factor, &five, sizeof factor, 0,
                                                 cudaMemcpyHostToDevice));
  CHECK(cudaGraphExecKernelNodeSetParams(exec, made.kernel, &kernel));
  CHECK(cudaGraphExecMemcpyNodeSetParams1D(exec, made.copy, &result, y, sizeof(int),
                                           cudaMemcpyDeviceToHost));
  CHECK(cudaGraphExecHostNodeSetParams(exec, made.call, &call));
  run(exec);
  EXPECT(result == 20 && calls == 1 && made.calls == 1 && made.result == 21);
  unsigned is_on = 0;
  CHECK(cudaGraphNodeSetEnabled(exec, made.kernel, 0));
  CHECK(cudaGraphNodeGetEnabled(exec, made.kernel, &is_on));
  EXPECT(is_on == 0);
  run(exec);
  EXPECT(result == 4);
  CHECK(cudaGraphNodeSetEnabled(exec, made.kernel, 1));
  CHECK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, made.copy, &result, factor, sizeof(int), 0,
                                                   cudaMemcpyDeviceToHost));
  run(exec);
  EXPECT(result == 5);
  EXPECT(cudaGraphNodeSetEnabled(exec, made.call, 0) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  unsigned long long flags = 1;
  CHECK(cudaGraphExecGetFlags(exec, &flags));
  EXPECT(flags == 0);
  CHECK(cudaGraphExecDestroy(exec));

  // The graph.
  CHECK(cudaGraphMemsetNodeSetParams(made.fill, &fill));
  CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(made.symbol, factor, &five, sizeof factor, 0,
                                             cudaMemcpyHostToDevice));
  CHECK(cudaGraphKernelNodeSetParams(made.kernel, &kernel));
  CHECK(cudaGraphMemcpyNodeSetParams1D(made.copy, &result, y, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaGraphHostNodeSetParams(made.call, &call));
  CHECK(cudaGraphInstantiate(&exec, made.graph, 0));
  run(exec);
  EXPECT(result == 20 && made.result == 21);

  // A graph inside of another one.
  cudaGraph_t outer;
  cudaGraphNode_t child;
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, made.graph));
  cudaGraphExec_t whole;
  CHECK(cudaGraphInstantiate(&whole, outer, 0));
  Graph other;
  build(&other, x, &seven);
  CHECK(cudaGraphExecChildGraphNodeSetParams(whole, child, other.graph));
  run(whole);
  EXPECT(other.result == 21);

  CHECK(cudaGraphExecDestroy(whole));
  CHECK(cudaGraphExecDestroy(exec));
  for (const cudaGraph_t graph : {outer, made.graph, other.graph}) CHECK(cudaGraphDestroy(graph));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  std::puts("right");
}
