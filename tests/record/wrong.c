/* Programs that do one thing wrong, and end with status 0, for the tests of `baton exec --device cuda`.
   wrong HOW: fault writes to an address that is nowhere, behind a launch that is right and has
     ended; running does so while the launch before it may run; refused launches a block that is too
     large, three times; event waits for the launch before the fault by an event. */
#include "../exec/clients/client.h"

enum { kWords = 64, kNowhere = 16, kTooManyThreads = 4096 };

static void launch_too_large(CUfunction function, CUdeviceptr words) {
  unsigned count = kWords;
  void* arguments[] = {&words, &count};
  EXPECT(cuLaunchKernel(function, 1, 1, 1, kTooManyThreads, 1, 1, 0, NULL, arguments, NULL) !=
         CUDA_SUCCESS);
}

int main(int words, char** values) {
  if (words != 2) return 2;
  const char* how = values[1];
  begin();
  const CUfunction twice = load_twice();
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, kWords * sizeof(unsigned)));
  CHECK(cuMemsetD32(memory, 1, kWords));
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuCtxSynchronize());
  launch_twice(twice, memory, kWords, stream);
  if (strcmp(how, "refused") == 0) {
    for (int k = 0; k < 3; ++k) launch_too_large(twice, memory);
    CHECK(cuCtxSynchronize());
    return 0;
  }
  if (strcmp(how, "fault") == 0) CHECK(cuStreamSynchronize(stream));
  if (strcmp(how, "event") == 0) {
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(event, stream));
    CHECK(cuEventSynchronize(event));
  }
  unsigned count = kWords;
  CUdeviceptr nowhere = kNowhere;
  void* arguments[] = {&nowhere, &count};
  const CUresult launched =
      cuLaunchKernel(twice, 1, 1, 1, kWords, 1, 1, 0, stream, arguments, NULL);
  EXPECT(cuStreamSynchronize(stream) != CUDA_SUCCESS || launched != CUDA_SUCCESS);
  EXPECT(cuCtxSynchronize() != CUDA_SUCCESS);
  return 0;
}
