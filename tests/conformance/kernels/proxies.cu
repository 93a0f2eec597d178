// Links of a chain whose accesses of global memory go through the asynchronous proxy. Each block
// takes the tile of another block, and nothing but the wait orders it after the launch before.

struct alignas(64) TensorMap {
  char opaque[128];
};

constexpr unsigned kTile = 1024;  // elements
constexpr unsigned kBytes = kTile * 4;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ void trigger() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
__device__ void wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

__device__ void expect(unsigned long long* barrier) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(kBytes)
               : "memory");
}

__device__ void await(unsigned long long* barrier) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(shared_address(barrier))
        : "memory");
  }
}

__device__ void load_bulk(unsigned* tile, const unsigned* from, unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(tile)),
      "l"(from), "r"(kBytes), "r"(shared_address(barrier))
      : "memory");
}

// `row`: of the map's rows of kTile / 4 elements.
__device__ void load_by_map(unsigned* tile, const TensorMap* map, unsigned row,
                            unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
      "l"(map), "r"(0), "r"(row), "r"(shared_address(barrier))
      : "memory");
}

__device__ unsigned other_block() {
  return (blockIdx.x + 7) % gridDim.x;
}

// Reads by a bulk copy, writes plainly.
extern "C" __global__ void bulk_reads(const unsigned* from, unsigned* to) {
  __shared__ alignas(128) unsigned tile[kTile];
  __shared__ unsigned long long full;
  trigger();
  if (threadIdx.x == 0) {
    expect(&full);
    wait();
    load_bulk(tile, from + other_block() * kTile, &full);
  }
  __syncthreads();
  await(&full);
  wait();
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) {
    to[blockIdx.x * kTile + i] = tile[i] + 1;
  }
}

// Reads plainly, writes by a bulk copy. Nothing waits until the copy has written.
extern "C" __global__ void bulk_writes(const unsigned* from, unsigned* to) {
  __shared__ alignas(128) unsigned tile[kTile];
  trigger();
  wait();
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) {
    tile[i] = __ldcg(from + other_block() * kTile + i) + 1;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(
                     to + blockIdx.x * kTile),
                 "r"(shared_address(tile)), "r"(kBytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

// Reads by a tensor map that is a parameter, writes plainly.
extern "C" __global__ void map_reads(const __grid_constant__ TensorMap from, unsigned* to) {
  __shared__ alignas(128) unsigned tile[kTile];
  __shared__ unsigned long long full;
  trigger();
  if (threadIdx.x == 0) {
    expect(&full);
    wait();
    load_by_map(tile, &from, other_block() * 4, &full);
  }
  __syncthreads();
  await(&full);
  wait();
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) {
    to[blockIdx.x * kTile + i] = tile[i] + 1;
  }
}

// The wait and the end of a grid order what is written to memory. A map's bytes are read through a
// proxy of their own: PTX asks for this fence before a changed map is used.
__device__ void acquire(const TensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}

// Makes `live` the map `maps[chosen]`. One block.
extern "C" __global__ void change_map(const TensorMap* maps, unsigned chosen, TensorMap* live) {
  trigger();
  wait();
  const auto* from = reinterpret_cast<const unsigned*>(maps + chosen);
  if (threadIdx.x < sizeof(TensorMap) / 4) {
    reinterpret_cast<unsigned*>(live)[threadIdx.x] = from[threadIdx.x];
  }
}

// Writes row `step` of `to`, a tile for each block, from the memory of the map that is live now.
extern "C" __global__ void read_by_changed_map(const TensorMap* live, unsigned step, bool acquires,
                                               unsigned* to) {
  __shared__ alignas(128) unsigned tile[kTile];
  __shared__ unsigned long long full;
  trigger();
  if (threadIdx.x == 0) {
    expect(&full);
    wait();
    if (acquires) acquire(live);
    load_by_map(tile, live, other_block() * 4, &full);
  }
  __syncthreads();
  await(&full);
  wait();
  unsigned* row = to + step * gridDim.x * kTile;
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) {
    row[blockIdx.x * kTile + i] = tile[i];
  }
}
