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

// A tensor map as a kernel makes it: the innermost dimension first.
struct Description {
  unsigned long long address;
  unsigned long long strides[4];  // in bytes, of the dimensions from 1 on
  unsigned extents[5];
  unsigned box[5];
  unsigned steps[5];
  unsigned rank;
  // By the numbers of tensormap.replace.
  unsigned type, swizzle, fill;
};

#define REPLACE(field, bits, constraint, value)                                               \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b" #bits " [%0], %1;" ::"r"( \
                   shared_address(map)),                                                      \
               constraint(value)                                                              \
               : "memory")
#define REPLACE_AT(field, bits, constraint, ordinal, value)                        \
  asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b" #bits         \
               " [%0], " #ordinal ", %1;" ::"r"(shared_address(map)), constraint(value) \
               : "memory")
#define REPLACE_IF(field, value, number) \
  if ((value) == number) REPLACE(field, 32, "n", number)

__device__ void describe(TensorMap* map, const Description& d) {
  REPLACE("global_address", 64, "l", d.address);
  REPLACE("rank", 32, "r", d.rank - 1);
#define DIMENSION(k)                                              \
  if (k < d.rank) {                                               \
    REPLACE_AT("box_dim", 32, "r", k, d.box[k]);                  \
    REPLACE_AT("global_dim", 32, "r", k, d.extents[k]);           \
    REPLACE_AT("element_stride", 32, "r", k, d.steps[k]);         \
  }
  DIMENSION(0)
  DIMENSION(1)
  DIMENSION(2)
  DIMENSION(3)
  DIMENSION(4)
#define STRIDE(k) \
  if (k + 1 < d.rank) REPLACE_AT("global_stride", 64, "l", k, d.strides[k]);
  STRIDE(0)
  STRIDE(1)
  STRIDE(2)
  STRIDE(3)
  REPLACE_IF("elemtype", d.type, 0);
  REPLACE_IF("elemtype", d.type, 1);
  REPLACE_IF("elemtype", d.type, 2);
  REPLACE_IF("elemtype", d.type, 3);
  REPLACE_IF("elemtype", d.type, 4);
  REPLACE_IF("elemtype", d.type, 5);
  REPLACE_IF("elemtype", d.type, 6);
  REPLACE_IF("elemtype", d.type, 7);
  REPLACE_IF("elemtype", d.type, 9);
  REPLACE_IF("elemtype", d.type, 10);
  REPLACE("interleave_layout", 32, "n", 0);
  REPLACE_IF("swizzle_mode", d.swizzle, 0);
  REPLACE_IF("swizzle_mode", d.swizzle, 1);
  REPLACE_IF("swizzle_mode", d.swizzle, 2);
  REPLACE_IF("swizzle_mode", d.swizzle, 3);
  REPLACE_IF("fill_mode", d.fill, 0);
  REPLACE_IF("fill_mode", d.fill, 1);
}

// Every block makes a map of `d`, from zeros or from `other`, and copies by it: `coordinates` of
// block 1 are those of block 0 plus `step` in the outermost dimension.
extern "C" __global__ void load_by_made_map(const __grid_constant__ TensorMap other, Description d,
                                            bool from_zeros, TensorMap* maps, Byte* out,
                                            unsigned bytes, Coordinates coordinates, int step) {
  __shared__ alignas(128) TensorMap fresh;
  if (threadIdx.x < 32) {
    auto* words = reinterpret_cast<unsigned*>(&fresh);
    words[threadIdx.x] =
        from_zeros ? 0 : reinterpret_cast<const unsigned*>(&other)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) describe(&fresh, d);
    __syncwarp();
    asm volatile(
        "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
        "[%0], [%1], 128;" ::"l"(__cvta_generic_to_global(maps + blockIdx.x)),
        "r"(shared_address(&fresh))
        : "memory");
  }
  __syncthreads();
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(maps + blockIdx.x)
               : "memory");
  coordinates.at[d.rank - 1] += step * static_cast<int>(blockIdx.x);
  load_whole(maps + blockIdx.x, out + blockIdx.x * bytes, static_cast<int>(d.rank), bytes,
             coordinates, 0);
}
