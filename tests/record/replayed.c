/* Programs whose records are replayed, for the tests: replayed CASE.
   clean: copies of all kinds, streams, an event, a graph, a variable, an array of pointers; its kernels trap where
     memory has other contents than they expect.
   tiles: a kernel reads by a tensor map. update: a node of a graph gets memory that is too small. bounds: a kernel writes behind the end of its memory. index: so does one that takes its index from memory.
   freed: a kernel reads memory that was freed. unordered: two streams without an event.
   host_race: a fill and a copy of two streams.
   shared: a kernel with more shared memory than it has without asking. host: a kernel reads pinned memory. */
#include "../exec/clients/client.h"

#define KERNEL(name, body)                                                                           \
  ".visible .entry " name "(.param .u64 x, .param .u64 y, .param .u32 n)\n{\n"                       \
  "  .reg .b64 %rd<9>;\n  .reg .b32 %r<9>;\n  .reg .pred %p1;\n"                                      \
  "  ld.param.u64 %rd1, [x];\n  ld.param.u64 %rd2, [y];\n  ld.param.u32 %r1, [n];\n"                  \
  "  mov.u32 %r2, %tid.x;\n  mul.wide.u32 %rd3, %r2, 4;\n"                                            \
  "  add.u64 %rd4, %rd1, %rd3;\n  add.u64 %rd5, %rd2, %rd3;\n" body "  ret;\n}\n"

static const char kKernels[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 factor = 2;\n"
    ".extern .shared .align 16 .b8 room[];\n"
    /* y[i] = factor * x[i] */
    KERNEL("scale",
           "  ld.global.u32 %r3, [%rd4];\n  ld.global.u32 %r4, [factor];\n  mul.lo.u32 %r3, %r3, %r4;\n"
           "  st.global.u32 [%rd5], %r3;\n")
    /* traps where x[i] is not n + i */
    KERNEL("expect",
           "  ld.global.u32 %r3, [%rd4];\n  add.u32 %r4, %r1, %r2;\n  setp.ne.u32 %p1, %r3, %r4;\n"
           "  @%p1 trap;\n")
    /* (*x)[i] = n, for an array x of pointers */
    KERNEL("follow",
           "  ld.global.u64 %rd6, [%rd1];\n  add.u64 %rd6, %rd6, %rd3;\n  st.global.u32 [%rd6], %r1;\n")
    /* y[x[i]] = n */
    KERNEL("scatter",
           "  ld.global.u32 %r3, [%rd4];\n  mul.wide.u32 %rd6, %r3, 4;\n  add.u64 %rd6, %rd2, %rd6;\n"
           "  st.global.u32 [%rd6], %r1;\n")
    /* x[i] = n */
    KERNEL("set", "  st.global.u32 [%rd4], %r1;\n")
    /* room[n] = 0 */
    KERNEL("use_room",
           "  mov.u32 %r3, room;\n  add.u32 %r3, %r3, %r1;\n  mov.u32 %r4, 0;\n"
           "  setp.ne.u32 %p1, %r2, 0;\n  @%p1 ret;\n  st.shared.u32 [%r3], %r4;\n")
    /* y[i] = what the second of two tensor maps is of, at i; it is read before the wait */
    ".visible .entry tile(.param .align 128 .b8 maps[384], .param .u64 y)\n{\n"
    "  .reg .b64 %rd<6>;\n  .reg .b32 %r<6>;\n  .reg .pred %p<3>;\n"
    "  .shared .align 128 .b8 words[128];\n  .shared .align 8 .b64 bar;\n"
    "  mov.b64 %rd1, maps;\n  cvta.param.u64 %rd1, %rd1;\n  add.s64 %rd1, %rd1, 256;\n"
    "  ld.param.u64 %rd2, [y];\n  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, words;\n  mov.u32 %r3, 0;\n"
    "  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra loaded;\n"
    "  mbarrier.init.shared.b64 [bar], 1;\n  fence.mbarrier_init.release.cluster;\n"
    "  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
    "  cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {%r3}], [bar];\n"
    "loaded:\n  bar.sync 0;\n"
    "again:\n  mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n  @!%p2 bra again;\n"
    "  griddepcontrol.wait;\n"
    "  mul.wide.u32 %rd3, %r1, 4;\n  cvt.u32.u64 %r4, %rd3;\n  add.u32 %r4, %r4, %r2;\n"
    "  ld.shared.u32 %r5, [%r4];\n  add.u64 %rd4, %rd2, %rd3;\n  st.global.u32 [%rd4], %r5;\n  ret;\n}\n";

enum { kThreads = 32, kWords = 32, kBytes = 4 * kWords };

static CUmodule module;

static void launch(const char* name, CUdeviceptr x, CUdeviceptr y, unsigned n, unsigned shared, CUstream stream) {
  CUfunction function;
  CHECK(cuModuleGetFunction(&function, module, name));
  if (shared > 48 << 10) {
    CHECK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared));
  }
  void* arguments[] = {&x, &y, &n};
  CHECK(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, shared, stream, arguments, NULL));
}

static CUdeviceptr allocate(void) {
  CUdeviceptr made;
  CHECK(cuMemAlloc(&made, kBytes));
  return made;
}

static void counted(unsigned* words, unsigned first, unsigned step) {
  for (unsigned k = 0; k < kWords; ++k) words[k] = first + k * step;
}

static void copy_rows(CUdeviceptr x, CUdeviceptr y, CUstream stream) {
  /* Eight rows of four words, out of rows of six. */
  unsigned wide[48], words[kWords], row, column;
  CUDA_MEMCPY2D copy;
  memset(&copy, 0, sizeof copy);
  for (row = 0; row < 8; ++row) {
    for (column = 0; column < 6; ++column) wide[row * 6 + column] = column < 2 ? 999 : 100 + row * 4 + column - 2;
  }
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = wide;
  copy.srcXInBytes = 8;
  copy.srcPitch = 24;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = x;
  copy.dstPitch = 16;
  copy.WidthInBytes = 16;
  copy.Height = 8;
  CHECK(cuMemcpy2DAsync(&copy, stream));
  launch("expect", x, 0, 100, 0, stream);
  CHECK(cuMemcpyDtoDAsync(y, x, kBytes, stream));
  launch("expect", y, 0, 100, 0, stream);
  CHECK(cuMemcpyDtoHAsync(words, y, kBytes, stream));
  CHECK(cuStreamSynchronize(stream));
  EXPECT(words[31] == 131);
}

static void clean(void) {
  const CUdeviceptr x = allocate(), y = allocate(), pointers = allocate();
  CUstream first, second;
  CUevent event;
  CHECK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  unsigned words[kWords];
  counted(words, 5, 1);
  CHECK(cuMemcpyHtoDAsync(x, words, kBytes, first));
  launch("expect", x, 0, 5, 0, first);
  CHECK(cuEventRecord(event, first));
  CHECK(cuStreamWaitEvent(second, event, 0));
  launch("scale", x, y, 0, 0, second);
  CHECK(cuStreamSynchronize(second));
  CHECK(cuMemcpy((CUdeviceptr)words, y, kBytes));
  EXPECT(words[31] == 72);
  /* The variable of the module. */
  CUdeviceptr factor;
  size_t size;
  const unsigned one = 1;
  CHECK(cuModuleGetGlobal(&factor, &size, module, "factor"));
  CHECK(cuMemcpyHtoD(factor, &one, sizeof one));
  launch("scale", x, y, 0, 0, first);
  launch("expect", y, 0, 5, 0, first);
  /* Pointers in memory. */
  CHECK(cuMemcpyHtoDAsync(pointers, &y, sizeof y, first));
  launch("follow", pointers, 0, 9, 0, first);
  copy_rows(x, y, first);
  CHECK(cuMemsetD2D32Async(x, 8, 0, 1, kWords / 2, first));
  CHECK(cuMemsetD32Async(x, 40, 1, first));
  CHECK(cuMemcpyAsync(y, x, kBytes, first));
  /* A graph of captured work. */
  CUgraph graph;
  CUgraphExec exec;
  CHECK(cuStreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CHECK(cuMemsetD8Async(y, 0, kBytes, first));
  launch("scale", x, y, 0, 0, first);
  CHECK(cuStreamEndCapture(first, &graph));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  for (int k = 0; k < 3; ++k) CHECK(cuGraphLaunch(exec, first));
  /* Memory in the order of a stream. */
  CUdeviceptr late;
  CHECK(cuMemAllocAsync(&late, kBytes, first));
  launch("set", late, 0, 3, 0, first);
  CHECK(cuMemFreeAsync(late, first));
  CHECK(cuCtxSynchronize());
  CHECK(cuGraphExecDestroy(exec));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree(x));
}

/* In a struct, behind the map of other memory. */
static void tiles(void) {
  struct {
    _Alignas(64) unsigned head[16];
    CUtensorMap maps[2];
  } params;
  const CUdeviceptr x = allocate(), y = allocate(), other = allocate();
  unsigned numbers[kWords];
  counted(numbers, 5, 1);
  memset(&params, 0, sizeof params);
  const cuuint64_t extent = kWords;
  const cuuint32_t box = kWords, step = 1;
  const cuuint64_t no_stride = 0; /* a dimension has none; drivers refuse NULL all the same */
  for (int k = 0; k < 2; ++k) {
    CHECK(cuTensorMapEncodeTiled(&params.maps[k], CU_TENSOR_MAP_DATA_TYPE_UINT32, 1,
                                 (void*)(size_t)(k == 0 ? other : x), &extent, &no_stride, &box, &step,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  }
  CHECK(cuMemcpyHtoD(x, numbers, kBytes));
  CUfunction function;
  CHECK(cuModuleGetFunction(&function, module, "tile"));
  void* arguments[] = {&params, (void*)&y};
  launch("scale", x, other, 0, 0, NULL);
  launch("set", x, 0, 8, 0, NULL);
  CHECK(cuLaunchKernel(function, 1, 1, 1, kThreads, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuMemcpyDtoH(numbers, y, kBytes));
  EXPECT(numbers[0] == 8 && numbers[kWords - 1] == 8);
}

/* A node of a graph gets other parameters when the graph is instantiated: smaller memory. */
static void update(void) {
  CUdeviceptr x = allocate(), small;
  CHECK(cuMemAlloc(&small, kBytes - 4));
  unsigned number = 1;
  void* arguments[] = {&x, &x, &number};
  CUDA_KERNEL_NODE_PARAMS params;
  memset(&params, 0, sizeof params);
  CHECK(cuModuleGetFunction(&params.func, module, "set"));
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = kThreads;
  params.blockDimY = params.blockDimZ = 1;
  params.kernelParams = arguments;
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec exec;
  CHECK(cuGraphCreate(&graph, 0));
  CHECK(cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
  CHECK(cuGraphInstantiate(&exec, graph, 0));
  CHECK(cuGraphLaunch(exec, NULL));
  arguments[0] = &small;
  CHECK(cuGraphExecKernelNodeSetParams(exec, node, &params));
  CHECK(cuGraphLaunch(exec, NULL));
}

int main(int words, char** values) {
  const char* name = words > 1 ? values[1] : "";
  begin();
  CHECK(cuModuleLoadData(&module, kKernels));
  unsigned numbers[kWords];
  counted(numbers, 0, 1);
  if (strcmp(name, "clean") == 0) {
    clean();
  } else if (strcmp(name, "tiles") == 0) {
    tiles();
  } else if (strcmp(name, "update") == 0) {
    update();
  } else if (strcmp(name, "bounds") == 0) {
    CUdeviceptr x;
    CHECK(cuMemAlloc(&x, kBytes - 4));
    launch("set", x, 0, 1, 0, NULL);
  } else if (strcmp(name, "index") == 0) {
    const CUdeviceptr x = allocate(), y = allocate();
    numbers[7] = 1 << 20;
    CHECK(cuMemcpyHtoD(x, numbers, kBytes));
    launch("scatter", x, y, 1, 0, NULL);
  } else if (strcmp(name, "freed") == 0) {
    const CUdeviceptr x = allocate(), y = allocate();
    CHECK(cuMemsetD8(x, 0, kBytes));
    CHECK(cuMemFree(x));
    launch("scale", x, y, 0, 0, NULL);
  } else if (strcmp(name, "unordered") == 0) {
    const CUdeviceptr x = allocate();
    CUstream streams[2];
    for (int k = 0; k < 2; ++k) {
      CHECK(cuStreamCreate(&streams[k], CU_STREAM_NON_BLOCKING));
      launch("set", x, 0, 1 + (unsigned)k, 0, streams[k]);
    }
  } else if (strcmp(name, "host_race") == 0) {
    const CUdeviceptr x = allocate(), y = allocate();
    CUstream stream;
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemsetD32Async(x, 40, kWords, stream));
    CHECK(cuMemcpy(y, x, kBytes));
  } else if (strcmp(name, "shared") == 0) {
    launch("use_room", 0, 0, 0, 100 << 10, NULL);
  } else if (strcmp(name, "host") == 0) {
    const CUdeviceptr y = allocate();
    unsigned* pinned;
    CHECK(cuMemHostAlloc((void**)&pinned, kBytes, 0));
    counted(pinned, 0, 1);
    launch("scatter", (CUdeviceptr)(size_t)pinned, y, 1, 0, NULL);
    launch("expect", (CUdeviceptr)(size_t)pinned, 0, 0, 0, NULL);
  } else {
    return 2;
  }
  /* The program does not look at the errors of its kernels: on the simulated GPU it would end here. */
  cuCtxSynchronize();
  puts("done");
  return 0;
}
