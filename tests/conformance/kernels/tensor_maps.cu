// Copies of boxes by tensor maps. Tiles are handed out and taken as the bytes that they are in
// shared memory.
struct alignas(64) TensorMap {
  char opaque[128];
};
struct Coordinates {
  int at[5];  // the innermost first
};

constexpr unsigned kRepeat = 1024;  // bytes after which every swizzle begins again
constexpr unsigned kRanks = 4;

using Byte = unsigned char;

__device__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

extern __shared__ Byte dynamic[];

// `shift` bytes behind a multiple of kRepeat.
__device__ Byte* tile_at(unsigned shift) {
  const unsigned start = shared_address(dynamic);
  return dynamic + ((start + kRepeat - 1) / kRepeat * kRepeat - start) + shift;
}

__device__ void expect(unsigned long long* barrier, unsigned bytes) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(bytes)
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

#define LOAD ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
__device__ void load(const TensorMap* map, int rank, const int* at, const Byte* tile,
                     unsigned long long* barrier) {
  const unsigned to = shared_address(tile), bar = shared_address(barrier);
  switch (rank) {
    case 1:
      asm volatile("cp.async.bulk.tensor.1d" LOAD "{%3}], [%2];" ::"r"(to), "l"(map), "r"(bar),
                   "r"(at[0])
                   : "memory");
      return;
    case 2:
      asm volatile("cp.async.bulk.tensor.2d" LOAD "{%3, %4}], [%2];" ::"r"(to), "l"(map), "r"(bar),
                   "r"(at[0]), "r"(at[1])
                   : "memory");
      return;
    case 3:
      asm volatile("cp.async.bulk.tensor.3d" LOAD "{%3, %4, %5}], [%2];" ::"r"(to), "l"(map),
                   "r"(bar), "r"(at[0]), "r"(at[1]), "r"(at[2])
                   : "memory");
      return;
    case 4:
      asm volatile("cp.async.bulk.tensor.4d" LOAD "{%3, %4, %5, %6}], [%2];" ::"r"(to), "l"(map),
                   "r"(bar), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                   : "memory");
      return;
    case 5:
      asm volatile("cp.async.bulk.tensor.5d" LOAD "{%3, %4, %5, %6, %7}], [%2];" ::"r"(to),
                   "l"(map), "r"(bar), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
                   : "memory");
      return;
  }
}

__device__ void hand_out(Byte* out, const Byte* tile, unsigned bytes) {
  for (unsigned k = threadIdx.x; k < bytes; k += blockDim.x) out[k] = tile[k];
}

__device__ void load_whole(const TensorMap* map, Byte* out, int rank, unsigned bytes,
                           const Coordinates& coordinates, unsigned shift) {
  __shared__ unsigned long long barrier;
  Byte* tile = tile_at(shift);
  if (threadIdx.x == 0) {
    expect(&barrier, bytes);
    load(map, rank, coordinates.at, tile, &barrier);
  }
  __syncthreads();
  await(&barrier);
  hand_out(out, tile, bytes);
}

extern "C" __global__ void load_box(const __grid_constant__ TensorMap map, Byte* out, int rank,
                                    unsigned bytes, Coordinates coordinates, unsigned shift) {
  load_whole(&map, out, rank, bytes, coordinates, shift);
}

// A tile that takes more of shared memory than the bytes that it counts.
extern "C" __global__ void load_narrow(const __grid_constant__ TensorMap map, Byte* out,
                                       unsigned bytes, unsigned extent, int x, int y) {
  __shared__ unsigned long long barrier;
  Byte* tile = tile_at(0);
  for (unsigned k = threadIdx.x; k < extent; k += blockDim.x) tile[k] = 0xee;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    const int at[2] = {x, y};
    expect(&barrier, bytes);
    load(&map, 2, at, tile, &barrier);
  }
  __syncthreads();
  await(&barrier);
  hand_out(out, tile, extent);
}

// The map is in global memory, into which the host copied it.
extern "C" __global__ void load_box_behind(const TensorMap* map, Byte* out, int rank,
                                           unsigned bytes, Coordinates coordinates) {
  asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(map) : "memory");
  load_whole(map, out, rank, bytes, coordinates, 0);
}

// Prefetches change nothing.
extern "C" __global__ void prefetch_box(const __grid_constant__ TensorMap map, Byte* out,
                                        unsigned bytes, int x, int y) {
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&map),
                 "r"(x), "r"(y)
                 : "memory");
  }
  load_whole(&map, out, 2, bytes, {{x, y}}, 0);
}

// Block 1 of each cluster loads a box for all blocks but the third.
extern "C" __global__ void __cluster_dims__(kRanks)
    load_for_many(const __grid_constant__ TensorMap map, Byte* out, unsigned bytes, int x, int y) {
  __shared__ unsigned long long barrier;
  Byte* tile = tile_at(0);
  for (unsigned k = threadIdx.x; k < bytes; k += blockDim.x) tile[k] = 0xee;
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  const bool takes = rank != 2;
  if (threadIdx.x == 0) expect(&barrier, takes ? bytes : 0);
  __syncthreads();
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 1 && threadIdx.x == 0) {
    const unsigned short ranks = 0xb;
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(tile)),
        "l"(&map), "r"(x), "r"(y), "r"(shared_address(&barrier)), "h"(ranks)
        : "memory");
  }
  if (takes) await(&barrier);
  hand_out(out + blockIdx.x * bytes, tile, bytes);
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// Runs `copy`, an instruction from `tile` to the map's tensor, on one thread.
template <typename Copy>
__device__ void send(const Byte* in, unsigned bytes, Copy copy) {
  Byte* tile = tile_at(0);
  for (unsigned k = threadIdx.x; k < bytes; k += blockDim.x) tile[k] = in[k];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x != 0) return;
  copy(shared_address(tile));
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void store_box(const __grid_constant__ TensorMap map, const Byte* in,
                                     int rank, unsigned bytes, Coordinates coordinates) {
  send(in, bytes, [&](unsigned tile) {
    const int* at = coordinates.at;
    if (rank == 1) {
      asm volatile(
          "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::"l"(
              &map),
          "r"(at[0]), "r"(tile)
          : "memory");
    } else if (rank == 2) {
      asm volatile(
          "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
              &map),
          "r"(at[0]), "r"(at[1]), "r"(tile)
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.tensor.5d.global.shared::cta.bulk_group [%0, {%1, %2, %3, %4, %5}], "
          "[%6];" ::"l"(&map),
          "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "r"(tile)
          : "memory");
    }
  });
}

#define REDUCE(op)                                                                              \
  extern "C" __global__ void reduce_##op(const __grid_constant__ TensorMap map, const Byte* in, \
                                         unsigned bytes, int x, int y) {                        \
    send(in, bytes, [&](unsigned tile) {                                                        \
      asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta." #op                     \
                   ".tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),                        \
                   "r"(x), "r"(y), "r"(tile)                                                    \
                   : "memory");                                                                 \
    });                                                                                         \
  }
REDUCE(add)
REDUCE(min)
REDUCE(max)
REDUCE(inc)
REDUCE(xor)
