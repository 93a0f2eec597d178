/* Streams, callbacks, captures, graphs, and cuGetProcAddress. */
#include <cudaTypedefs.h>

#include "client.h"

enum { kCount = 64 };

static void call_back(CUstream stream, CUresult status, void* data) {
  (void)stream;
  *(int*)data = status == CUDA_SUCCESS ? 1 : 2;
}

static void streams(void) {
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  unsigned flags = 0;
  CHECK(cuStreamGetFlags(stream, &flags));
  EXPECT(flags == CU_STREAM_NON_BLOCKING);
  unsigned long long id = 0, other = 0;
  CHECK(cuStreamGetId(stream, &id));
  CHECK(cuStreamGetId(NULL, &other));
  EXPECT(id != other);
  int called = 0;
  CHECK(cuStreamAddCallback(stream, call_back, &called, 0));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(called == 1);
  CUevent first, second;
  CHECK(cuEventCreate(&first, 0));
  CHECK(cuEventCreate(&second, 0));
  CHECK(cuEventRecordWithFlags(first, stream, 0));
  CHECK(cuEventRecord(second, stream));
  CHECK(cuEventSynchronize(second));
  float milliseconds = -1;
  CHECK(cuEventElapsedTime(&milliseconds, first, second));
  EXPECT(milliseconds >= 0);
  CHECK(cuEventDestroy(first));
  CHECK(cuEventDestroy(second));
  CHECK(cuStreamDestroy(stream));
}

static void graphs(CUfunction twice) {
  unsigned words[kCount];
  count_up(words, kCount);
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, sizeof words));
  CHECK(cuMemcpyHtoD(memory, words, sizeof words));
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch_twice(twice, memory, kCount, stream);
  launch_twice(twice, memory, kCount, stream);
  CUgraph graph;
  CHECK(cuStreamEndCapture(stream, &graph));
  size_t roots = 0, edges = 0;
  CHECK(cuGraphGetRootNodes(graph, NULL, &roots));
  EXPECT(roots == 1);
  CHECK(cuGraphGetEdges(graph, NULL, NULL, NULL, &edges));
  EXPECT(edges == 1);
  CUDA_GRAPH_INSTANTIATE_PARAMS params;
  memset(&params, 0, sizeof params);
  CUgraphExec exec;
  CHECK(cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT(params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
  CHECK(cuGraphUpload(exec, stream));
  CHECK(cuGraphLaunch(exec, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemcpyDtoH(words, memory, sizeof words));
  EXPECT(is_scaled(words, kCount, 4));
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemFree(memory));
}

static void* found(const char* name, int version, cuuint64_t flags) {
  void* function = NULL;
  CUdriverProcAddressQueryResult status;
  CHECK(cuGetProcAddress(name, &function, version, flags, &status));
  EXPECT((function != NULL) == (status == CU_GET_PROC_ADDRESS_SUCCESS));
  return function;
}

static void addresses(void) {
  /* Each version of a name is another function, and so is the one with the thread's stream. */
  void* const old = found("cuCtxCreate", 3020, 0);
  void* const new = found("cuCtxCreate", 13000, 0);
  EXPECT(old != NULL && new != NULL && old != new);
  void* const legacy = found("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  void* const thread = found("cuMemcpyHtoD", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
  EXPECT(legacy == (void*)cuMemcpyHtoD && legacy != thread);
  EXPECT(found("cuMemAlloc", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) ==
         (void*)cuMemAlloc);
  EXPECT(found("cuThereIsNoSuch", 13000, 0) == NULL);
  void* function = NULL;
  CUdriverProcAddressQueryResult status;
  CHECK(cuGetProcAddress("cuLaunchKernelEx", &function, 11000, 0, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  /* One that is not simulated is there, and says so. */
  const PFN_cuIpcGetEventHandle_v4010 missing =
      (PFN_cuIpcGetEventHandle_v4010)found("cuIpcGetEventHandle", 13000, 0);
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, missing(NULL, NULL));
}

static void on_message(void* data, CUlogLevel level, char* message, size_t length) {
  (void)level, (void)message, (void)length;
  *(int*)data = 1;
}

/* The log of the driver is there, and empty. */
static void logs(void) {
  int is_told = 0;
  CUlogsCallbackHandle callback = NULL;
  CHECK(cuLogsRegisterCallback(on_message, &is_told, &callback));
  CHECK(cuLogsRegisterCallback(on_message, &is_told, NULL));
  EXPECT(callback != NULL);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLogsRegisterCallback(NULL, NULL, &callback));
  CUlogIterator end = 7;
  CHECK(cuLogsCurrent(&end, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLogsCurrent(&end, 1));
  char text[8] = "before";
  size_t bytes = sizeof text;
  CHECK(cuLogsDumpToMemory(&end, text, &bytes, 0));
  EXPECT(bytes == 0 && text[0] == 0);
  CHECK(cuLogsDumpToFile(NULL, "/dev/null", 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToFile(NULL, "/none/there", 0));
  CHECK(cuLogsUnregisterCallback(callback));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuLogsUnregisterCallback(callback));
  EXPECT(!is_told);
}

int main(void) {
  begin();
  const CUfunction twice = load_twice();
  streams();
  graphs(twice);
  addresses();
  logs();
  return 0;
}
