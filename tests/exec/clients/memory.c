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
  /* The threshold lets the pool keep what it has, and a trim does not. */
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
  EXPECT(value >= 1000);
  CHECK(cuMemPoolTrimTo(own, 1 << 20));
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
  EXPECT(value >= 1000);
  CHECK(cuMemPoolTrimTo(own, 0));
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
  EXPECT(value == 0);
  CHECK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &value));
  EXPECT(value >= 1000);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
  CHECK(cuMemPoolDestroy(own));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolTrimTo(own, 0));
}

static CUmemoryPool host_pool(CUmemAllocationType type, CUmemLocation location) {
  CUmemPoolProps properties;
  memset(&properties, 0, sizeof properties);
  properties.allocType = type;
  properties.location = location;
  CUmemoryPool pool;
  CHECK(cuMemPoolCreate(&pool, &properties));
  return pool;
}

static cuuint64_t used(CUmemoryPool pool) {
  cuuint64_t bytes = 0;
  CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &bytes));
  return bytes;
}

/* Memory of a pool that the host reads, which goes in the order of a stream. */
static void host_pools(CUfunction twice) {
  const CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
  const CUmemLocation none = {CU_MEM_LOCATION_TYPE_NONE, 0};
  const CUmemLocation other_node = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 5};
  const CUmemAllocationType pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  const CUmemAllocationType managed = CU_MEM_ALLOCATION_TYPE_MANAGED;
  const CUmemoryPool pools[] = {host_pool(pinned, host), host_pool(managed, none),
                                host_pool(managed, host)};
  CUstream stream;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (int k = 0; k < 3; ++k) {
    CUdeviceptr memory;
    CHECK(cuMemAllocFromPoolAsync(&memory, sizeof(unsigned) * kCount, pools[k], stream));
    CHECK(cuStreamSynchronize(stream));
    EXPECT(used(pools[k]) == sizeof(unsigned) * kCount);
    count_up((unsigned*)memory, kCount);
    launch_twice(twice, memory, kCount, stream);
    CHECK(cuStreamSynchronize(stream));
    EXPECT(is_scaled((unsigned*)memory, kCount, 2));
    CUmemoryPool of = NULL;
    CHECK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory + 4));
    EXPECT(of == pools[k]);
    CHECK(cuLaunchHostFunc(stream, sleep_a_moment, NULL));
    CHECK(cuMemFreeAsync(memory, stream));
    EXPECT(used(pools[k]) != 0);
    CHECK(cuStreamSynchronize(stream));
    EXPECT(used(pools[k]) == 0);
    CHECK(cuMemAllocFromPoolAsync(&memory, 64, pools[k], stream));
    CHECK(cuMemFree(memory));
    EXPECT(used(pools[k]) == 0);
    CHECK(cuMemPoolDestroy(pools[k]));
  }
  CHECK(cuStreamDestroy(stream));

  CUmemoryPool standard, current, own = host_pool(managed, none);
  CUmemLocation place = none, wrong = other_node;
  CHECK(cuMemGetDefaultMemPool(&standard, &place, managed));
  CHECK(cuMemGetMemPool(&current, &place, managed));
  EXPECT(standard == current && standard != NULL);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemPoolDestroy(standard));
  CHECK(cuMemSetMemPool(&place, managed, own));
  CHECK(cuMemGetMemPool(&current, &place, managed));
  EXPECT(current == own);
  CHECK(cuMemPoolDestroy(own));
  CHECK(cuMemGetMemPool(&current, &place, managed));
  EXPECT(current == standard);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemGetMemPool(&current, &wrong, managed));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemGetMemPool(&current, &place, pinned));
}

static int range_attribute(CUmem_range_attribute attribute, CUdeviceptr memory, size_t bytes) {
  int value = 99;
  CHECK(cuMemRangeGetAttribute(&value, sizeof value, attribute, memory, bytes));
  return value;
}

/* Advice is kept by page. */
static void advice(void) {
  enum { kPage = 4096, kBytes = 4 * kPage };
  const CUmemLocation device = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
  CUdeviceptr memory;
  CHECK(cuMemAllocManaged(&memory, kBytes, CU_MEM_ATTACH_GLOBAL));
  const CUdeviceptr second = memory + kPage;
  EXPECT(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, kBytes) == 0);
  CHECK(cuMemAdvise(second, kPage, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
  EXPECT(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, second, kPage) == 1);
  EXPECT(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, second, kPage + 1) == 0);
  EXPECT(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, kPage) == 0);
  CHECK(cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
  EXPECT(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, second, kPage) == 0);

  const CUmem_range_attribute preferred = CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
  EXPECT(range_attribute(preferred, memory, kBytes) == CU_DEVICE_INVALID);
  CHECK(cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host));
  EXPECT(range_attribute(preferred, memory, kBytes) == CU_DEVICE_CPU);
  CHECK(cuMemAdvise(second, 8, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
  EXPECT(range_attribute(preferred, second, kPage) == 0);
  EXPECT(range_attribute(preferred, memory, kBytes) == CU_DEVICE_INVALID);
  EXPECT(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, second, kPage) ==
         CU_MEM_LOCATION_TYPE_DEVICE);

  int accessors[2] = {99, 99};
  CHECK(cuMemAdvise(memory, kBytes, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
  CHECK(cuMemRangeGetAttribute(accessors, sizeof accessors, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                               memory, kBytes));
  EXPECT(accessors[0] == 0 && accessors[1] == CU_DEVICE_INVALID);

  CUdeviceptr parts[] = {memory, second, second + kPage};
  size_t sizes[] = {kPage, kPage, kPage}, from[] = {0, 2};
  CUmemLocation places[] = {device, host};
  CHECK(cuMemPrefetchBatchAsync(parts, sizes, 3, places, from, 2, 0, NULL));
  const CUmem_range_attribute last = CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION;
  EXPECT(range_attribute(last, memory, 2 * kPage) == 0);
  EXPECT(range_attribute(last, parts[2], kPage) == CU_DEVICE_CPU);
  EXPECT(range_attribute(last, memory, kBytes) == CU_DEVICE_INVALID);
  CHECK(cuMemDiscardBatchAsync(parts, sizes, 3, 0, NULL));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuMemPrefetchBatchAsync(parts, sizes, 3, places, from + 1, 1, 0, NULL));
  CHECK(cuMemFree(memory));

  CUdeviceptr plain;
  CHECK(cuMemAlloc(&plain, 64));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuMemAdvise(plain, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
  CHECK(cuMemFree(plain));
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
  CUcontext none;
  EXPECT_RESULT(CUDA_ERROR_NOT_INITIALIZED, cuDevicePrimaryCtxRetain(&none, 0));
  begin();
  const CUfunction twice = load_twice();
  host_memory(twice);
  host_fills();
  unaligned_map();
  rows();
  pools();
  host_pools(twice);
  advice();
  attributes();
  return 0;
}
