// Every thread applies one operation to its bin; `old` gets what the operation returned.
enum Op { kAdd, kMin, kMax, kAnd, kOr, kXor, kExch };

// There is no atomicAdd of long long; its bits are those of the unsigned sum.
__device__ long long atomicAdd(long long* target, long long value) {
  return static_cast<long long>(::atomicAdd(reinterpret_cast<unsigned long long*>(target),
                                            static_cast<unsigned long long>(value)));
}
__device__ long long atomicExch(long long* target, long long value) {
  return static_cast<long long>(::atomicExch(reinterpret_cast<unsigned long long*>(target),
                                             static_cast<unsigned long long>(value)));
}

template <typename T>
__device__ T apply(int op, T* target, T value) {
  switch (op) {
    case kAdd: return atomicAdd(target, value);
    case kMin: return atomicMin(target, value);
    case kMax: return atomicMax(target, value);
    case kAnd: return atomicAnd(target, value);
    case kOr: return atomicOr(target, value);
    case kXor: return atomicXor(target, value);
    default: return atomicExch(target, value);
  }
}
template <typename T>
__global__ void global_op(T* bins, const T* values, int op, unsigned bin_count, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) apply(op, bins + i % bin_count, values[i]);
}

// The same in shared memory; bins of all blocks are added up by the host.
template <typename T>
__global__ void shared_op(T* bins, const T* values, int op, unsigned bin_count, unsigned n) {
  __shared__ T local[64];
  if (threadIdx.x < bin_count) local[threadIdx.x] = bins[blockIdx.x * bin_count + threadIdx.x];
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) apply(op, local + i % bin_count, values[i]);
  __syncthreads();
  if (threadIdx.x < bin_count) bins[blockIdx.x * bin_count + threadIdx.x] = local[threadIdx.x];
}

template <typename T>
__global__ void add_float(T* bins, const T* values, unsigned bin_count, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(bins + i % bin_count, values[i]);
}

extern "C" __global__ void tickets(unsigned* counter, unsigned* taken) {
  taken[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(counter, 1u);
}

extern "C" __global__ void wrap(unsigned* up, unsigned* down, unsigned limit) {
  atomicInc(up, limit);
  atomicDec(down, limit);
}

// Adds by compare and swap, 32, 64 and 16 bits wide.
extern "C" __global__ void cas_add(unsigned* word, unsigned long long* wide, unsigned short* half) {
  unsigned seen = *word, want;
  do {
    want = seen;
    seen = atomicCAS(word, want, want + 3);
  } while (seen != want);
  unsigned long long wide_seen = *wide, wide_want;
  do {
    wide_want = wide_seen;
    wide_seen = atomicCAS(wide, wide_want, wide_want + (1ull << 33));
  } while (wide_seen != wide_want);
  unsigned short half_seen = *half, half_want;
  do {
    half_want = half_seen;
    half_seen = atomicCAS(half, half_want, static_cast<unsigned short>(half_want + 1));
  } while (half_seen != half_want);
}

extern "C" __global__ void scopes(int* block_sum, int* system_sum) {
  atomicAdd_block(block_sum + blockIdx.x, 1);
  atomicAdd_system(system_sum, 1);
}

// Each block publishes a value and raises a flag; the last one to arrive adds all values up.
extern "C" __global__ void last_block(unsigned* arrived, volatile int* partial, int* total) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    *total = sum;
  }
}
