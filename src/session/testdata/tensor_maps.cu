// Kernels that take tensor maps, built by make_ptx.sh. Tiles are of 8 rows of 16 floats.
#include <cuda.h>

constexpr unsigned kTileBytes = 8 * 16 * sizeof(float);

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// By one thread of a block: loads the tile at column x, row y of `from` and stores it in `to`.
__device__ __forceinline__ void load_tile(float* tile, unsigned long long* barrier,
                                          const CUtensorMap* from, int x, int y) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(barrier)));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(kTileBytes));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(tile)),
      "l"(from), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}
__device__ __forceinline__ void await(unsigned long long* barrier) {
  asm volatile(
      "{ .reg .pred done; AGAIN: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; @!done bra "
      "AGAIN; }" ::"r"(shared_address(barrier))
      : "memory");
}
__device__ __forceinline__ void store_tile(const CUtensorMap* to, const float* tile, int x, int y) {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(to),
      "r"(x), "r"(y), "r"(shared_address(tile))
      : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// What a map holds, and where its buffer lies.
extern "C" __global__ void dump_map(const __grid_constant__ CUtensorMap map, const float* from,
                                    unsigned long long* words, unsigned long long* address) {
  words[threadIdx.x] = map.opaque[threadIdx.x];
  *address = reinterpret_cast<unsigned long long>(from);
}

extern "C" __global__ void move_tile(const __grid_constant__ CUtensorMap from,
                                     const __grid_constant__ CUtensorMap to, int x, int y) {
  __shared__ alignas(128) float tile[kTileBytes / sizeof(float)];
  __shared__ unsigned long long barrier;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  load_tile(tile, &barrier, &from, x, y);
  await(&barrier);
  store_tile(&to, tile, x, y);
}

// Loads before it waits.
extern "C" __global__ void early_tile(const __grid_constant__ CUtensorMap from,
                                      const __grid_constant__ CUtensorMap to, int x, int y) {
  __shared__ alignas(128) float tile[kTileBytes / sizeof(float)];
  __shared__ unsigned long long barrier;
  load_tile(tile, &barrier, &from, x, y);
  await(&barrier);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  store_tile(&to, tile, x, y);
}

// The map stands in memory.
extern "C" __global__ void tile_behind(const CUtensorMap* from,
                                       const __grid_constant__ CUtensorMap to, int x, int y) {
  __shared__ alignas(128) float tile[kTileBytes / sizeof(float)];
  __shared__ unsigned long long barrier;
  load_tile(tile, &barrier, from, x, y);
  await(&barrier);
  asm volatile("griddepcontrol.wait;" ::: "memory");
  store_tile(&to, tile, x, y);
}

// 128 bytes that are not a place for a map.
struct alignas(16) Words {
  unsigned long long words[16];
};
extern "C" __global__ void take_words(unsigned long long* out,
                                      const __grid_constant__ Words words) {
  *out = words.words[0];
}
