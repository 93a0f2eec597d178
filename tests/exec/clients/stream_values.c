/* Streams that write words of memory and wait for values in them. With "unordered" as its argument
   two kernels race. */
#include <unistd.h>

#include "client.h"

enum { kCount = 64 };

static CUfunction twice;

static CUstream new_stream(void) {
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

static CUdeviceptr new_words(unsigned value) {
  CUdeviceptr words;
  CHECK(cuMemAlloc(&words, kCount * sizeof(unsigned)));
  CHECK(cuMemsetD32(words, value, kCount));
  CHECK(cuCtxSynchronize());
  return words;
}

static unsigned first_of(CUdeviceptr words) {
  unsigned value = 0;
  CHECK(cuMemcpyDtoH(&value, words, sizeof value));
  return value;
}

/* The stream that waits is told so before the one that writes has begun. */
static void between_streams(CUdeviceptr flag) {
  const CUdeviceptr words = new_words(1);
  const CUstream first = new_stream(), second = new_stream();
  for (unsigned k = 1; k <= 3; ++k) {
    CHECK(cuStreamWaitValue32(second, flag, k, CU_STREAM_WAIT_VALUE_GEQ));
    launch_twice(twice, words, kCount, second);
    launch_twice(twice, words, kCount, first);
    CHECK(cuStreamWriteValue32(first, flag, k, CU_STREAM_WRITE_VALUE_DEFAULT));
    CHECK(cuStreamSynchronize(second));
    CHECK(cuStreamSynchronize(first));
  }
  EXPECT(first_of(words) == 64);
  CHECK(cuMemFree(words));
  CHECK(cuStreamDestroy(first));
  CHECK(cuStreamDestroy(second));
}

/* The value comes before what it should announce. */
static void unordered(CUdeviceptr flag) {
  const CUdeviceptr words = new_words(1);
  const CUstream first = new_stream(), second = new_stream();
  CHECK(cuStreamWriteValue32(first, flag, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  launch_twice(twice, words, kCount, first);
  CHECK(cuStreamWaitValue32(second, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
  launch_twice(twice, words, kCount, second);
  CHECK(cuCtxSynchronize());
  CHECK(cuMemFree(words));
}

/* Each condition, of both widths, with a value that is there and one that comes. */
static void conditions(CUdeviceptr flag) {
  const CUstream stream = new_stream(), writer = new_stream();
  const struct {
    unsigned how;
    cuuint64_t not_yet, then, asked;
  } cases[] = {
      {CU_STREAM_WAIT_VALUE_GEQ, 0xfffffffffffffff0u, 5, 5},
      {CU_STREAM_WAIT_VALUE_EQ, 4, 7, 7},
      {CU_STREAM_WAIT_VALUE_AND, 8, 6, 2},
      {CU_STREAM_WAIT_VALUE_NOR, 0xfffffffffffffff0u, 0xffffffffffffff00u, 0xf},
  };
  for (int k = 0; k < 4; ++k) {
    CHECK(cuStreamWriteValue64(writer, flag, cases[k].not_yet, 0));
    CHECK(cuStreamSynchronize(writer));
    CHECK(cuStreamWaitValue64(stream, flag, cases[k].asked, cases[k].how));
    usleep(2000);
    EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    CHECK(cuStreamWriteValue64(writer, flag, cases[k].then, 0));
    CHECK(cuStreamSynchronize(stream));

    CHECK(cuStreamWriteValue32(writer, flag, (cuuint32_t)cases[k].not_yet, 0));
    CHECK(cuStreamSynchronize(writer));
    CHECK(cuStreamWaitValue32(stream, flag, (cuuint32_t)cases[k].asked, cases[k].how));
    usleep(2000);
    EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    CHECK(cuStreamWriteValue32(writer, flag, (cuuint32_t)cases[k].then, 0));
    CHECK(cuStreamSynchronize(stream));
  }
  CHECK(cuStreamDestroy(stream));
  CHECK(cuStreamDestroy(writer));
}

/* The host writes the value, after it saw that another stream is done. */
static void from_host(void) {
  unsigned* flag = NULL;
  CHECK(cuMemAllocHost((void**)&flag, sizeof *flag));
  *flag = 0;
  const CUdeviceptr words = new_words(1);
  const CUstream first = new_stream(), second = new_stream();
  CHECK(cuStreamWaitValue32(second, (CUdeviceptr)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
  launch_twice(twice, words, kCount, second);
  launch_twice(twice, words, kCount, first);
  CHECK(cuStreamSynchronize(first));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  CHECK(cuStreamSynchronize(second));
  EXPECT(first_of(words) == 4);
  CHECK(cuStreamWriteValue32(first, (CUdeviceptr)flag, 7, 0));
  CHECK(cuStreamSynchronize(first));
  EXPECT(*flag == 7);
  CHECK(cuMemFree(words));
  CHECK(cuMemFreeHost(flag));
  CHECK(cuStreamDestroy(first));
  CHECK(cuStreamDestroy(second));
}

static void batches(CUdeviceptr flag) {
  const CUdeviceptr words = new_words(1);
  const CUstream first = new_stream(), second = new_stream();
  CUstreamBatchMemOpParams batch[3];
  memset(batch, 0, sizeof batch);
  batch[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  batch[0].writeValue.address = flag;
  batch[0].writeValue.value = 100;
  batch[1].memoryBarrier.operation = CU_STREAM_MEM_OP_BARRIER;
  batch[1].memoryBarrier.flags = CU_STREAM_MEMORY_BARRIER_TYPE_GPU;
  batch[2].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  batch[2].waitValue.address = flag + 8;
  batch[2].waitValue.value = 200;
  CHECK(cuMemsetD32(flag, 0, 4));
  CHECK(cuCtxSynchronize());
  CHECK(cuStreamBatchMemOp(first, 3, batch, 0));
  launch_twice(twice, words, kCount, first);
  CHECK(cuStreamWaitValue32(second, flag, 100, CU_STREAM_WAIT_VALUE_EQ));
  launch_twice(twice, words, kCount, second);
  CHECK(cuStreamWriteValue32(second, flag + 8, 200, 0));
  CHECK(cuStreamSynchronize(first));
  EXPECT(first_of(words) == 4);
  /* Nothing of a batch happens if one of it is wrong. */
  batch[0].writeValue.value = 300;
  batch[2].waitValue.address = flag + 2;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamBatchMemOp(first, 3, batch, 0));
  CHECK(cuCtxSynchronize());
  EXPECT(first_of(flag) == 100);
  CHECK(cuMemFree(words));
  CHECK(cuStreamDestroy(first));
  CHECK(cuStreamDestroy(second));
}

static void refusals(CUdeviceptr flag) {
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(NULL, flag + 2, 0, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue64(NULL, flag + 4, 0, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(NULL, flag, 0, 4));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(NULL, 16, 0, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(NULL, flag, 0, 2));
  CUdeviceptr managed;
  CHECK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(NULL, managed, 0, 0));
  CHECK(cuMemFree(managed));
}

int main(int count, char** arguments) {
  begin();
  twice = load_twice();
  const CUdeviceptr flag = new_words(0);
  if (count > 1 && strcmp(arguments[1], "unordered") == 0) {
    unordered(flag);
    return 0;
  }
  between_streams(flag);
  conditions(flag);
  from_host();
  batches(flag);
  refusals(flag);
  puts("right");
  return 0;
}
