// A tree reduction with a barrier in a loop whose trip count depends on the block.
extern "C" __global__ void tree_sum(int* out, const int* in) {
  __shared__ int values[1024];
  const unsigned t = threadIdx.x;
  values[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) values[t] += values[t + stride];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = values[0];
}

extern "C" __global__ void voting_barriers(int* out, const int* flags) {
  const int flag = flags[threadIdx.x];
  const int count = __syncthreads_count(flag);
  const int both = __syncthreads_and(flag);
  const int any = __syncthreads_or(flag);
  out[3 * threadIdx.x] = count;
  out[3 * threadIdx.x + 1] = both != 0;
  out[3 * threadIdx.x + 2] = any != 0;
}

// Warps that have exited no longer count at a barrier.
extern "C" __global__ void early_exit(int* out) {
  __shared__ int value;
  if (threadIdx.x >= 96) return;
  if (threadIdx.x == 0) value = 41;
  __syncthreads();
  out[threadIdx.x] = value + 1;
}

// Producers and consumers meet at named barriers: one half of the block fills a slot, the other
// half empties it, sixteen times.
extern "C" __global__ void producer_consumer(int* out) {
  __shared__ int slot[64];
  const int t = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int round = 0; round < 16; ++round) {
      if (round > 0) asm volatile("bar.sync 2, 128;" ::: "memory");
      slot[t] = round * 100 + t;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    }
  } else {
    int sum = 0;
    for (int round = 0; round < 16; ++round) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      sum += slot[63 - t];
      if (round < 15) asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
    out[t] = sum;
  }
}

// Two groups of warps synchronise among themselves at different paces.
extern "C" __global__ void groups(int* out) {
  __shared__ int shared[2][64];
  const int group = threadIdx.x / 64, t = threadIdx.x % 64, rounds = group == 0 ? 5 : 11;
  int value = t;
  for (int round = 0; round < rounds; ++round) {
    shared[group][t] = value;
    asm volatile("barrier.sync %0, 64;" ::"r"(group + 3) : "memory");
    value = shared[group][(t + 1) % 64] + 1;
    asm volatile("barrier.sync %0, 64;" ::"r"(group + 3) : "memory");
  }
  out[threadIdx.x] = value;
}

// A barrier inside a branch that the whole block takes or leaves.
extern "C" __global__ void uniform_branch(int* out, int rounds) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    if ((round + static_cast<int>(blockIdx.x)) % 2 == 0) {
      atomicAdd(&sum, 1);
      __syncthreads();
    } else {
      __syncthreads();
      if (threadIdx.x == 0) sum *= 2;
      __syncthreads();
    }
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// One-dimensional stencil by repeated sweeps in shared memory.
extern "C" __global__ void smooth(float* data, int sweeps) {
  __shared__ float line[258];
  const int t = threadIdx.x + 1;
  if (threadIdx.x == 0) line[0] = line[257] = 0.0f;
  line[t] = data[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    const float next = 0.25f * line[t - 1] + 0.5f * line[t] + 0.25f * line[t + 1];
    __syncthreads();
    line[t] = next;
    __syncthreads();
  }
  data[blockIdx.x * 256 + threadIdx.x] = line[t];
}
