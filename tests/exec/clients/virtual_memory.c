/* Virtual memory: addresses that are reserved, and memory that is mapped there. An argument names
   a wrong use that the kernel must not survive. */
#include "client.h"

static CUfunction twice;
static size_t page;

static CUmemAllocationProp properties(void) {
  CUmemAllocationProp made;
  memset(&made, 0, sizeof made);
  made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  made.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return made;
}

static CUmemGenericAllocationHandle new_memory(size_t pages) {
  const CUmemAllocationProp made = properties();
  CUmemGenericAllocationHandle handle;
  CHECK(cuMemCreate(&handle, pages * page, &made, 0));
  return handle;
}

static CUdeviceptr reserve(size_t pages) {
  CUdeviceptr address;
  CHECK(cuMemAddressReserve(&address, pages * page, 0, 0, 0));
  return address;
}

static CUresult allow(CUdeviceptr address, size_t bytes, CUmemAccess_flags flags) {
  CUmemAccessDesc access;
  memset(&access, 0, sizeof access);
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = flags;
  return cuMemSetAccess(address, bytes, &access, 1);
}

static void map(CUdeviceptr address, size_t pages, CUmemGenericAllocationHandle handle) {
  CHECK(cuMemMap(address, pages * page, 0, handle, 0));
  CHECK(allow(address, pages * page, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

/* The word at the address, which the kernel has doubled. */
static unsigned doubled(CUdeviceptr address, unsigned word) {
  CHECK(cuMemsetD32(address, word, 1));
  launch_twice(twice, address, 1, NULL);
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(&word, address, sizeof word));
  return word;
}

/* A range that grows, as an allocator's does: accesses do not see where its parts meet. */
static void growing(void) {
  const CUdeviceptr base = reserve(4);
  const CUmemGenericAllocationHandle first = new_memory(1), second = new_memory(2);
  map(base, 1, first);
  EXPECT(doubled(base, 21) == 42);
  unsigned word = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, base + page, sizeof word));
  map(base + page, 2, second);
  CHECK(cuMemsetD32(base, 5, 3 * page / 4));
  const CUdeviceptr edge = base + page - 128;
  launch_twice(twice, edge, 64, NULL);
  unsigned words[66];
  CHECK(cuMemcpyDtoH(words, edge - 4, sizeof words));
  EXPECT(words[0] == 5 && words[1] == 10 && words[64] == 10 && words[65] == 5);
  CUdeviceptr start = 0;
  size_t bytes = 0;
  CHECK(cuMemGetAddressRange(&start, &bytes, edge));
  EXPECT(start == base && bytes == 3 * page);

  /* Released memory stays while it is mapped. */
  CHECK(cuMemRelease(first));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemRelease(first));
  EXPECT(doubled(base, 4) == 8);
  CUmemGenericAllocationHandle again;
  CHECK(cuMemRetainAllocationHandle(&again, (void*)(base + page)));
  EXPECT(again == second);
  CHECK(cuMemRelease(again));
  CHECK(cuMemUnmap(base, page));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&word, base, sizeof word));
  EXPECT(doubled(base + page, 3) == 6);
  CHECK(cuMemUnmap(base + page, 2 * page));
  CHECK(cuMemRelease(second));
  CHECK(cuMemAddressFree(base, 4 * page));
}

/* Memory moves to other addresses with what it holds, and is at two addresses at a time. */
static void moving(void) {
  const CUdeviceptr a = reserve(1), b = reserve(1);
  const CUmemGenericAllocationHandle memory = new_memory(1);
  map(a, 1, memory);
  EXPECT(doubled(a, 9) == 18);
  map(b, 1, memory);
  launch_twice(twice, b, 1, NULL);
  CHECK(cuCtxSynchronize());
  unsigned word = 0;
  CHECK(cuMemcpyDtoH(&word, a, sizeof word));
  EXPECT(word == 36);
  CHECK(cuMemUnmap(a, page));
  CHECK(cuMemcpyDtoH(&word, b, sizeof word));
  EXPECT(word == 36);
  CHECK(cuMemUnmap(b, page));
  CHECK(cuMemAddressFree(a, page));
  CHECK(cuMemAddressFree(b, page));
  CHECK(cuMemRelease(memory));
}

static void refusals(void) {
  CUmemAllocationProp made = properties();
  CUmemGenericAllocationHandle handle;
  CUdeviceptr address;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, page + 1, &made, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, 0, &made, 0));
  made.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&handle, page, &made, 0));
  made = properties();
  made.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&handle, page, &made, 0));
  /* Memory that could be shared is there. Sharing it is not. */
  made.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CHECK(cuMemCreate(&handle, page, &made, 0));
  int descriptor = 0;
  EXPECT_RESULT(CUDA_ERROR_NOT_SUPPORTED,
                cuMemExportToShareableHandle(&descriptor, handle,
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CHECK(cuMemRelease(handle));
  made = properties();
  size_t total = 0, before = 0, after = 0;
  CHECK(cuMemGetInfo(&before, &total));
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY,
                cuMemCreate(&handle, (total / page + 1) * page, &made, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&address, page / 2, 0, 0, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&address, page, 3, 0, 0));

  const CUdeviceptr base = reserve(3);
  handle = new_memory(2);
  CHECK(cuMemGetInfo(&after, &total));
  EXPECT(before - after == 2 * page);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + 2 * page, 2 * page, 0, handle, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + 1, 2 * page, 0, handle, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemMap(base, 2 * page, 0, handle + 1, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                allow(base, page, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  CHECK(cuMemMap(base, 2 * page, 0, handle, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + page, 2 * page, 0, handle, 0));
  /* Not before it is allowed. */
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(base, 1, 1));
  CUmemLocation here;
  memset(&here, 0, sizeof here);
  here.type = CU_MEM_LOCATION_TYPE_DEVICE;
  unsigned long long flags = 7;
  CHECK(cuMemGetAccess(&flags, &here, base));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  CHECK(allow(base, 2 * page, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  CHECK(cuMemGetAccess(&flags, &here, base));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  CHECK(cuMemsetD32(base, 1, 1));
  CHECK(cuCtxSynchronize());
  CUmemAllocationProp told;
  CHECK(cuMemGetAllocationPropertiesFromHandle(&told, handle));
  EXPECT(told.type == CU_MEM_ALLOCATION_TYPE_PINNED);
  /* Whole mappings and reservations alone. */
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(base, page));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(base, 3 * page));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 3 * page));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree(base));
  CHECK(cuMemUnmap(base, 2 * page));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(base, 2 * page));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, page));
  CHECK(cuMemAddressFree(base, 3 * page));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 3 * page));
  CHECK(cuMemRelease(handle));
  CHECK(cuMemGetInfo(&after, &total));
  EXPECT(before == after);
}

/* A kernel that uses memory as the name says. */
static int misuse(const char* name) {
  const CUdeviceptr base = reserve(3);
  const CUmemGenericAllocationHandle memory = new_memory(1);
  map(base, 1, memory);
  CHECK(cuMemsetD32(base, 1, page / 4));
  CHECK(cuCtxSynchronize());
  CUdeviceptr used = base;
  if (strcmp(name, "unmapped") == 0) {
    CHECK(cuMemUnmap(base, page));
  } else if (strcmp(name, "beyond") == 0) {
    used = base + page;
  } else if (strcmp(name, "closed") == 0) {
    CHECK(allow(base, page, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  } else if (strcmp(name, "fresh") == 0) {
    used = base + page;
    map(used, 1, new_memory(1));
  }
  launch_twice(twice, used, 1, NULL);
  return (int)cuCtxSynchronize();
}

int main(int count, char** arguments) {
  begin();
  twice = load_twice();
  int is_there = 0;
  CHECK(cuDeviceGetAttribute(&is_there, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
  EXPECT(is_there);
  const CUmemAllocationProp made = properties();
  CHECK(cuMemGetAllocationGranularity(&page, &made, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  if (count > 1) {
    printf("%d\n", misuse(arguments[1]));
    return 0;
  }
  growing();
  moving();
  refusals();
  puts("right");
  return 0;
}
