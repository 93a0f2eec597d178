/* Modules, libraries, links, occupancy, contexts. */
#include "client.h"

enum { kCount = 100 };

/* scale(p): multiplies one word by what another module gives. */
static const char kCaller[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 out) seven();\n"
    ".visible .entry scale(.param .u64 p)\n{\n"
    "  .reg .b64 %rd1; .reg .b32 %r<3>;\n"
    "  ld.param.u64 %rd1, [p];\n"
    "  { .param .b32 out; call (out), seven, (); ld.param.b32 %r1, [out]; }\n"
    "  ld.global.u32 %r2, [%rd1]; mul.lo.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2; ret;\n}\n";
static const char kCallee[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .func (.param .b32 out) seven()\n{\n  st.param.b32 [out], 7; ret;\n}\n";

static void modules(void) {
  CUmodule module;
  CHECK(cuModuleLoadDataEx(&module, kTwice, 0, NULL, NULL));
  unsigned count = 0;
  CHECK(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 1);
  CUfunction function, listed;
  CHECK(cuModuleGetFunction(&function, module, "twice"));
  CHECK(cuModuleEnumerateFunctions(&listed, 1, module));
  EXPECT(function == listed);
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&listed, module, "thrice"));
  CUmodule of;
  CHECK(cuFuncGetModule(&of, function));
  EXPECT(of == module);
  CUdeviceptr factor;
  size_t bytes;
  CHECK(cuModuleGetGlobal(&factor, &bytes, module, "factor"));
  EXPECT(bytes == 4);
  const unsigned three = 3;
  CHECK(cuMemcpyHtoD(factor, &three, sizeof three));
  unsigned words[kCount];
  count_up(words, kCount);
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, sizeof words));
  CHECK(cuMemcpyHtoD(memory, words, sizeof words));
  launch_twice(function, memory, kCount, CU_STREAM_PER_THREAD);
  CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
  CHECK(cuMemcpy((CUdeviceptr)words, memory, sizeof words));
  EXPECT(is_scaled(words, kCount, 3));
  int grid = 0, block = 0;
  CHECK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
  EXPECT(block >= 128 && block % 32 == 0 && grid > 0);
  size_t shared = 0;
  CHECK(cuOccupancyAvailableDynamicSMemPerBlock(&shared, function, 1, 128));
  EXPECT(shared == 48 * 1024);
  CHECK(cuMemFree(memory));
  CHECK(cuModuleUnload(module));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunctionCount(&count, module));
  EXPECT_RESULT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "/nowhere/at.all"));
  /* A cubin without PTX: an ELF header alone. */
  const char header[64] = "\177ELF\2\1\1";
  EXPECT_RESULT(CUDA_ERROR_NO_BINARY_FOR_GPU, cuModuleLoadData(&module, header));
}

static void links(void) {
  CUlinkState state;
  char log[1000] = "";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)(size_t)sizeof log};
  CHECK(cuLinkCreate(2, options, values, &state));
  CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)kCaller, sizeof kCaller, "caller", 0, NULL,
                      NULL));
  void* image = NULL;
  size_t size = 0;
  CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)kCallee, sizeof kCallee - 1, "callee", 0,
                      NULL, NULL));
  CHECK(cuLinkComplete(state, &image, &size));
  CUmodule module;
  CHECK(cuModuleLoadData(&module, image));
  CHECK(cuLinkDestroy(state));
  CUfunction scale;
  CHECK(cuModuleGetFunction(&scale, module, "scale"));
  CUdeviceptr word;
  CHECK(cuMemAlloc(&word, 4));
  CHECK(cuMemsetD32(word, 6, 1));
  void* arguments[] = {&word};
  CHECK(cuLaunchKernel(scale, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  unsigned value = 0;
  CHECK(cuMemcpyDtoH(&value, word, 4));
  EXPECT(value == 42);
  CHECK(cuMemFree(word));

  CHECK(cuLinkCreate(2, options, values, &state));
  CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)kCaller, sizeof kCaller, "caller", 0, NULL,
                      NULL));
  CHECK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)kTwice, sizeof kTwice, "other", 0, NULL,
                      NULL));
  EXPECT(cuLinkComplete(state, &image, &size) != CUDA_SUCCESS);
  EXPECT(strstr(log, "seven") != NULL);
  CHECK(cuLinkDestroy(state));
}

static void contexts(CUcontext primary) {
  CUcontext made, current;
  CHECK(cuCtxCreate(&made, NULL, CU_CTX_SCHED_YIELD, 0));
  CHECK(cuCtxGetCurrent(&current));
  EXPECT(current == made);
  unsigned flags = 0, version = 0;
  CHECK(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_YIELD);
  CHECK(cuCtxGetApiVersion(made, &version));
  size_t limit = 0;
  CHECK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  CHECK(cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
  EXPECT(limit == 4096);
  CHECK(cuCtxDestroy(made));
  CHECK(cuCtxGetCurrent(&current));
  EXPECT(current == primary);

  char id[20];
  CUdevice device = 99;
  CHECK(cuDeviceGetPCIBusId(id, sizeof id, 0));
  CHECK(cuDeviceGetByPCIBusId(&device, id));
  EXPECT(device == 0);
  int count = 0, can = 1;
  CHECK(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  CHECK(cuDeviceCanAccessPeer(&can, 0, 0));
  EXPECT(can == 0);
  int value = 1;
  CHECK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT(value == 0);  /* its entries are not simulated */
  int active = 0;
  CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(active == 1);
  CHECK(cuDevicePrimaryCtxReset(0));
  CHECK(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(active == 0);
}

int main(void) {
  const CUcontext primary = begin();
  modules();
  links();
  contexts(primary);
  return 0;
}
