/* What the client programs share: they call the driver as any program does, and end with status 0
   where everything was as it must be. */
#pragma once

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                     \
  do {                                                                                  \
    const CUresult result_ = (call);                                                    \
    if (result_ != CUDA_SUCCESS) {                                                      \
      const char* name_ = "?";                                                          \
      cuGetErrorName(result_, &name_);                                                  \
      fprintf(stderr, "%s:%d: %s gives %s\n", __FILE__, __LINE__, #call, name_);        \
      exit(1);                                                                          \
    }                                                                                   \
  } while (0)

#define EXPECT(condition)                                                      \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);  \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

#define EXPECT_RESULT(want, call) EXPECT((call) == (want))

/* twice(p, n): doubles n words. */
static const char kTwice[] =
    ".version 8.0\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .global .align 4 .u32 factor = 2;\n"
    ".visible .entry twice(.param .u64 p, .param .u32 n)\n"
    "{\n"
    "  .reg .b64 %rd<4>;\n"
    "  .reg .b32 %r<7>;\n"
    "  .reg .pred %p1;\n"
    "  ld.param.u64 %rd1, [p];\n"
    "  ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %tid.x;\n"
    "  mov.u32 %r3, %ctaid.x;\n"
    "  mov.u32 %r4, %ntid.x;\n"
    "  mad.lo.u32 %r2, %r3, %r4, %r2;\n"
    "  setp.ge.u32 %p1, %r2, %r1;\n"
    "  @%p1 ret;\n"
    "  mul.wide.u32 %rd2, %r2, 4;\n"
    "  add.u64 %rd3, %rd1, %rd2;\n"
    "  ld.global.u32 %r5, [%rd3];\n"
    "  ld.global.u32 %r6, [factor];\n"
    "  mul.lo.u32 %r5, %r5, %r6;\n"
    "  st.global.u32 [%rd3], %r5;\n"
    "  ret;\n"
    "}\n";

static inline CUcontext begin(void) {
  CHECK(cuInit(0));
  CUdevice device;
  CHECK(cuDeviceGet(&device, 0));
  CUcontext context;
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  return context;
}

static inline CUfunction load_twice(void) {
  CUmodule module;
  CHECK(cuModuleLoadData(&module, kTwice));
  CUfunction function;
  CHECK(cuModuleGetFunction(&function, module, "twice"));
  return function;
}

static inline void launch_twice(CUfunction function, CUdeviceptr words, unsigned count,
                                CUstream stream) {
  void* arguments[] = {&words, &count};
  CHECK(cuLaunchKernel(function, (count + 63) / 64, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
}

static inline int is_scaled(const unsigned* words, unsigned count, unsigned factor) {
  for (unsigned k = 0; k < count; ++k) {
    if (words[k] != k * factor) return 0;
  }
  return 1;
}

static inline void count_up(unsigned* words, unsigned count) {
  for (unsigned k = 0; k < count; ++k) words[k] = k;
}
