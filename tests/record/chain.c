/* Pairs of launches, the second with programmatic dependent launch, for the tests of records.
   chain KERNEL COUNT [HOW]: the pair produce, KERNEL comes COUNT times.
   KERNEL: safe waits before it reads; early reads before it waits, and so does late<float>, whose symbol is C++'s;
     hidden writes, before it waits, where a pointer in memory says; deaf never waits.
   HOW: plain launches without PDL; abort ends so; kill is killed; fork lets two children do it;
     capture makes a graph of it and launches that twice; built makes the graph node by node; threads does it in
     two threads; exit does it a second time when the process exits. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../exec/clients/client.h"

#define HEAD \
  "{\n  .reg .b64 %rd<8>;\n  .reg .b32 %r<4>;\n" \
  "  ld.param.u64 %rd1, [x];\n  ld.param.u64 %rd2, [y];\n" \
  "  mov.u32 %r1, %tid.x;\n  mul.wide.u32 %rd3, %r1, 4;\n" \
  "  add.u64 %rd4, %rd1, %rd3;\n  add.u64 %rd5, %rd2, %rd3;\n"
#define KERNEL(name) ".visible .entry " name "(.param .u64 x, .param .u64 y)\n" HEAD

static const char kKernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    KERNEL("produce")
    "  griddepcontrol.launch_dependents;\n  griddepcontrol.wait;\n"
    "  st.global.u32 [%rd4], %r1;\n  ret;\n}\n"
    KERNEL("safe")
    "  griddepcontrol.launch_dependents;\n  griddepcontrol.wait;\n"
    "  ld.global.u32 %r2, [%rd4];\n  st.global.u32 [%rd5], %r2;\n  ret;\n}\n"
    KERNEL("early")
    "  griddepcontrol.launch_dependents;\n  ld.global.u32 %r2, [%rd4];\n"
    "  griddepcontrol.wait;\n  st.global.u32 [%rd5], %r2;\n  ret;\n}\n"
    KERNEL("_Z4lateIfEvPT_S1_")
    "  griddepcontrol.launch_dependents;\n  ld.global.u32 %r2, [%rd4];\n"
    "  griddepcontrol.wait;\n  st.global.u32 [%rd5], %r2;\n  ret;\n}\n"
    KERNEL("hidden")
    "  griddepcontrol.launch_dependents;\n  ld.global.u64 %rd6, [%rd2];\n"
    "  st.global.u32 [%rd6], %r1;\n  griddepcontrol.wait;\n  ret;\n}\n"
    KERNEL("deaf")
    "  ld.global.u32 %r2, [%rd4];\n  st.global.u32 [%rd5], %r2;\n  ret;\n}\n";

enum { kThreads = 32, kBytes = 4096 };

static const char* kernel_name;
static int count;
static int is_plain, is_captured, is_built;

static void launch(CUfunction function, CUdeviceptr x, CUdeviceptr y, CUstream stream, int early) {
  CUlaunchAttribute attribute;
  memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config;
  memset(&config, 0, sizeof config);
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = kThreads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  config.attrs = &attribute;
  config.numAttrs = early && !is_plain ? 1 : 0;
  void* arguments[] = {&x, &y};
  CHECK(cuLaunchKernelEx(&config, function, arguments, NULL));
}

/* The nodes of a graph, one behind the other, and programmatic edges in front of the second of each pair. */
static CUgraph build(CUfunction produce, CUfunction consume, CUdeviceptr x, CUdeviceptr y) {
  CUgraph graph;
  CHECK(cuGraphCreate(&graph, 0));
  CUgraphNode last = NULL;
  void* arguments[] = {&x, &y};
  for (int k = 0; k < 2 * count; ++k) {
    CUDA_KERNEL_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.func = k % 2 == 0 ? produce : consume;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = kThreads;
    params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    CUgraphNode node;
    const int early = k % 2 == 1;
    CHECK(cuGraphAddKernelNode(&node, graph, &last, last != NULL && !early ? 1 : 0, &params));
    if (early) {
      CUgraphEdgeData data;
      memset(&data, 0, sizeof data);
      data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
      data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      CHECK(cuGraphAddDependencies(graph, &last, &node, &data, 1));
    }
    last = node;
  }
  /* Work of another kind behind it. */
  CUDA_MEMSET_NODE_PARAMS fill;
  memset(&fill, 0, sizeof fill);
  fill.dst = x;
  fill.elementSize = 4;
  fill.width = kBytes / 4;
  fill.height = 1;
  CUgraphNode node;
  CUcontext context;
  CHECK(cuCtxGetCurrent(&context));
  CHECK(cuGraphAddMemsetNode(&node, graph, &last, 1, &fill, context));
  return graph;
}

static void work(void) {
  begin();
  CUmodule module;
  CHECK(cuModuleLoadData(&module, kKernels));
  CUfunction produce, consume;
  CHECK(cuModuleGetFunction(&produce, module, "produce"));
  CHECK(cuModuleGetFunction(&consume, module, kernel_name));
  CUdeviceptr x, y, z;
  CHECK(cuMemAlloc(&x, kBytes));
  CHECK(cuMemAlloc(&y, kBytes));
  CHECK(cuMemAlloc(&z, kBytes));
  CHECK(cuMemsetD8(x, 0, kBytes));
  const CUdeviceptr pointers[] = {z};
  CHECK(cuMemcpyHtoD(y, pointers, sizeof pointers));
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUgraph graph = NULL;
  if (is_captured) CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  for (int k = 0; k < count && !is_built; ++k) {
    launch(produce, x, y, stream, 0);
    launch(consume, x, y, stream, 1);
  }
  if (is_captured) CHECK(cuStreamEndCapture(stream, &graph));
  if (is_built) graph = build(produce, consume, x, y);
  if (graph != NULL) {
    CUgraphExec exec;
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuGraphLaunch(exec, stream));
  }
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuCtxSynchronize());
}

static void* in_thread(void* unused) {
  work();
  return unused;
}

int main(int words, char** values) {
  if (words < 3) return 2;
  kernel_name = values[1];
  count = atoi(values[2]);
  const char* how = words > 3 ? values[3] : "";
  is_plain = strcmp(how, "plain") == 0;
  is_captured = strcmp(how, "capture") == 0;
  is_built = strcmp(how, "built") == 0;
  if (strcmp(how, "fork") == 0) {
    for (int k = 0; k < 2; ++k) {
      if (fork() == 0) {
        work();
        _exit(0);
      }
    }
    while (wait(NULL) > 0) continue;
    return 0;
  }
  if (strcmp(how, "threads") == 0) {
    pthread_t threads[2];
    for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, in_thread, NULL);
    for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
    return 0;
  }
  work();
  /* The CUDA runtime, too, calls the driver when the thread's own objects are gone. */
  if (strcmp(how, "exit") == 0) atexit(work);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
  puts("done");
  return 0;
}
