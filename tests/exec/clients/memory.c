/* Memory that the host and kernels share, copies of rows, pools. */
#include <unistd.h>

#include "client.h"

enum { kCount = 200 };

static void CUDA_CB sleep_a_moment(void* data) {
  (void)data;
  usleep(200000);
}

/* A fill of memory that the host reads is done when the call returns. */
static void host_fills(void) {
  unsigned char* pinned;
  CHECK(cuMemAllocHost((void**)&pinned, kCount));
  memset(pinned, 0, kCount);
  CHECK(cuLaunchHostFunc(NULL, sleep_a_moment, NULL));
  CHECK(cuMemsetD8((CUdeviceptr)pinned, 7, kCount));
  EXPECT(pinned[0] == 7 && pinned[kCount - 1] == 7);
  CHECK(cuLaunchHostFunc(NULL, sleep_a_moment, NULL));
  CHECK(cuMemsetD2D16((CUdeviceptr)pinned, 8, 0x0909, 2, 3));
  EXPECT(pinned[0] == 9 && pinned[4] == 7 && pinned[16] == 9);
  CHECK(cuMemFreeHost(pinned));
}

/* cuda.core has its maps in Python's objects, which are aligned to 16 bytes. */
static void unaligned_map(void) {
  static char bytes[sizeof(CUtensorMap) + 128];
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, 4096));
  char* const at = bytes + 64 - (unsigned long long)bytes % 64 + 16;
  const cuuint64_t extents[] = {64};
  const cuuint32_t box[] = {32}, strides[] = {1};
  CHECK(cuTensorMapEncodeTiled((CUtensorMap*)at, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1, (void*)memory,
                               extents, NULL, box, strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                               CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  CHECK(cuMemFree(memory));
}

static void host_memory(CUfunction twice) {
  unsigned* pinned;
  CHECK(cuMemAllocHost((void**)&pinned, sizeof *pinned * kCount));
  count_up(pinned, kCount);
  launch_twice(twice, (CUdeviceptr)pinned, kCount, NULL);
  CHECK(cuCtxSynchronize());
  EXPECT(is_scaled(pinned, kCount, 2));
  CUdeviceptr address;
  CHECK(cuMemHostGetDevicePointer(&address, pinned, 0));
  EXPECT(address == (CUdeviceptr)pinned);
  unsigned type = 0;
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  EXPECT(type == CU_MEMORYTYPE_HOST);
  CHECK(cuMemFreeHost(pinned));

  CUdeviceptr managed;
  CHECK(cuMemAllocManaged(&managed, sizeof(unsigned) * kCount, CU_MEM_ATTACH_GLOBAL));
  count_up((unsigned*)managed, kCount);
  launch_twice(twice, managed, kCount, NULL);
  CHECK(cuCtxSynchronize());
  EXPECT(is_scaled((unsigned*)managed, kCount, 2));
  unsigned is_managed = 0;
  CHECK(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
  EXPECT(is_managed == 1);
  CHECK(cuMemFree(managed));

  /* Not at the start of a page, nor of an access. */
  unsigned* mine = (unsigned*)malloc(sizeof *mine * (kCount + 1)) + 1;
  count_up(mine, kCount);
  CHECK(cuMemHostRegister(mine, sizeof *mine * kCount, 0));
  EXPECT_RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(mine + 1, 4, 0));
  launch_twice(twice, (CUdeviceptr)mine, kCount, NULL);
  CHECK(cuCtxSynchronize());
  EXPECT(is_scaled(mine, kCount, 2));
  CHECK(cuMemHostUnregister(mine));
  EXPECT_RESULT(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(mine));
  free(mine - 1);
}

static void rows(void) {
  enum { kWidth = 12, kHeight = 5 };
  unsigned char host[kHeight][kWidth], back[kHeight][kWidth];
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) host[y][x] = (unsigned char)(y * kWidth + x);
  }
  CUdeviceptr pitched;
  size_t pitch = 0;
  CHECK(cuMemAllocPitch(&pitched, &pitch, kWidth, kHeight, 4));
  EXPECT(pitch >= kWidth && pitch % 4 == 0);
  CUDA_MEMCPY2D copy;
  memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = pitched;
  copy.dstPitch = pitch;
  copy.WidthInBytes = kWidth;
  copy.Height = kHeight;
  CHECK(cuMemcpy2D(&copy));
  /* The lower right part comes back to the upper left. */
  memset(back, 0, sizeof back);
  memset(&copy, 0, sizeof copy);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = pitched;
  copy.srcPitch = pitch;
  copy.srcXInBytes = 4;
  copy.srcY = 2;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = back;
  copy.dstPitch = kWidth;
  copy.WidthInBytes = kWidth - 4;
  copy.Height = kHeight - 2;
  CHECK(cuMemcpy2DAsync(&copy, NULL));
  for (int y = 0; y < kHeight - 2; ++y) {
    EXPECT(memcmp(back[y], host[y + 2] + 4, kWidth - 4) == 0);
  }
  copy.Height = kHeight;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&copy)); /* two rows too many */

  CHECK(cuMemsetD2D8(pitched, pitch, 7, kWidth, kHeight));
  CHECK(cuMemcpyDtoH(back, pitched + 4 * pitch, kWidth));
  EXPECT(back[0][0] == 7 && back[0][kWidth - 1] == 7);

  CUDA_MEMCPY3D cube;
  memset(&cube, 0, sizeof cube);
  cube.srcMemoryType = CU_MEMORYTYPE_HOST;
  cube.srcHost = host;
  cube.srcPitch = 3;
  cube.srcHeight = 2;
  cube.dstMemoryType = CU_MEMORYTYPE_HOST;
  cube.dstHost = back;
  cube.dstPitch = 4;
  cube.dstHeight = 2;
  cube.WidthInBytes = 3;
  cube.Height = 2;
  cube.Depth = 3;
  CHECK(cuMemcpy3D(&cube));
  for (int z = 0; z < 3; ++z) {
    for (int y = 0; y < 2; ++y) {
      EXPECT(memcmp((unsigned char*)back + (z * 2 + y) * 4, (unsigned char*)host + (z * 2 + y) * 3,
                    3) == 0);
    }
  }
  CHECK(cuMemFree(pitched));
}

static void pools(void) {
  CUdevice device;
  CHECK(cuCtxGetDevice(&device));
  CUmemoryPool standard, current, own;
  CHECK(cuDeviceGetDefaultMemPool(&standard, device));
  CHECK(cuDeviceGetMemPool(&current, device));
  EXPECT(standard == current);
  CUmemPoolProps properties;
  memset(&properties, 0, sizeof properties);
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CHECK(cuMemPoolCreate(&own, &properties));
  cuuint64_t value = 1 << 20;
  CHECK(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &value));
  CUdeviceptr memory;
  CHECK(cuMemAllocFromPoolAsync(&memory, 1000, own, NULL));
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  EXPECT(value == 1000);
  CHECK(cuMemFreeAsync(memory, NULL));
  CHECK(cuStreamSynchronize(NULL));
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  EXPECT(value == 0);
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value));
  EXPECT(value == 1000);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
  CHECK(cuMemPoolDestroy(own));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(own, 0));
}

static void attributes(void) {
  CUdeviceptr memory;
  CHECK(cuMemAlloc(&memory, 512));
  CUpointer_attribute ask[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                               CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  unsigned type = 99;
  size_t size = 99;
  int ordinal = 99;
  void* data[] = {&type, &size, &ordinal};
  CHECK(cuPointerGetAttributes(3, ask, data, memory + 8));
  EXPECT(type == CU_MEMORYTYPE_DEVICE && size == 512 && ordinal == 0);
  /* Of memory that is nobody's they are zero. */
  CHECK(cuPointerGetAttributes(3, ask, data, (CUdeviceptr)&type));
  EXPECT(type == 0 && size == 0 && ordinal == -2);
  CHECK(cuMemFree(memory));
}

int main(void) {
  begin();
  const CUfunction twice = load_twice();
  host_memory(twice);
  host_fills();
  unaligned_map();
  rows();
  pools();
  attributes();
  return 0;
}
