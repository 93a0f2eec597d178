// Two launches: primaries, and secondaries that wait, that read or write too early, or that do not wait.

// --- Primaries: y = 2 x ---
KERNEL produce(float* y, const float* x) { INDEX; TRIGGER; y[i] = 2 * x[i]; }
KERNEL produce_late(float* y, const float* x) { INDEX; y[i] = 2 * x[i]; TRIGGER; }
KERNEL produce_plain(float* y, const float* x) { INDEX; y[i] = 2 * x[i]; }
KERNEL produce4(float4* y, const float4* x) {
  INDEX;
  TRIGGER;
  if (i % 4 == 0) y[i / 4] = x[i / 4];
}
KERNEL produce_half(unsigned short* y, const float* x) {
  INDEX;
  TRIGGER;
  y[i] = static_cast<unsigned short>(x[i] * 100.0f + 200.0f);
}

// --- Secondaries that are right ---
KERNEL consume(float* y, const float* x) { INDEX; WAIT; y[i] = x[i] + 1; }
KERNEL consume_late(float* y, const float* x) {
  INDEX;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += static_cast<float>(k * i);
  WAIT;
  y[i] = x[i] + sum;
}
KERNEL consume_weight(float* y, const float* x, const float* w) {
  INDEX;
  const float weight = w[i];  // no launch writes it: before the wait
  WAIT;
  y[i] = x[i] * weight;
}
KERNEL consume_staged(float* y, const float* x, const float* w) {
  INDEX;
  __shared__ float stage[128];
  stage[t] = w[i];
  WAIT;
  __syncthreads();
  y[i] = x[i] * stage[t ^ 64];
}
// One warp waits, a barrier orders the rest after it.
KERNEL one_warp_waits(float* y, const float* x) {
  INDEX;
  if (t < 32) WAIT;
  __syncthreads();
  y[i] = x[i] + 1;
}
KERNEL one_thread_waits(float* y, const float* x) {
  INDEX;
  if (t == 77) WAIT;
  __syncthreads();
  y[i] = x[i] + 1;
}
KERNEL producer_warp_waits(float* y, const float* x) {
  INDEX;
  __shared__ float stage[128];
  if (t < 32) {
    WAIT;
    for (int k = t; k < 128; k += 32) stage[k] = x[blockIdx.x * 128 + k];
    asm volatile("bar.arrive 1, 128;" ::: "memory");
    if (t < 32) y[i] = stage[t] + 1;
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    y[i] = stage[t] + 1;
  }
}
KERNEL flag_waits(float* y, const float* x) {
  INDEX;
  __shared__ volatile int ready;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t == 0) {
    WAIT;
    __threadfence_block();
    ready = 1;
  }
  while (ready == 0) {
  }
  __threadfence_block();
  y[i] = x[i] + 1;
}
KERNEL lane_waits(float* y, const float* x) {
  INDEX;
  if (t % 32 == 0) WAIT;
  __syncwarp();
  y[i] = x[i] + 1;
}
KERNEL early_exit(float* y, const float* x, int n) {
  INDEX;
  if (i >= n) return;
  WAIT;
  y[i] = x[i] + 1;
}
KERNEL relay(float* y, const float* x) { INDEX; TRIGGER; WAIT; y[i] = x[i] + 1; }
KERNEL relay_late(float* y, const float* x) { INDEX; WAIT; y[i] = x[i] + 1; TRIGGER; }
KERNEL accumulate(float* y, const float* x) { INDEX; WAIT; atomicAdd(y, x[i]); }
KERNEL pass() { TRIGGER; WAIT; }

KERNEL consume_half(float* y, const unsigned short* x) { INDEX; WAIT; y[i] = x[i]; }
KERNEL shuffle_waits(float* y, const float* x) {
  INDEX;
  if (t % 32 == 0) WAIT;
  const float none = __shfl_sync(0xffffffff, 0.0f, 0);  // after it all lanes are ordered
  y[i] = x[i] + none;
}
KERNEL writes_one(float* y) {
  INDEX;
  if (i == 200) y[i] = 1;
}
KERNEL count_up(float* y) { INDEX; atomicAdd(y, 1.0f); }

// --- Reads before the wait ---
KERNEL reads_first(float* y, const float* x) { INDEX; const float v = x[i]; WAIT; y[i] = v; }
KERNEL stages_first(float* y, const float* x) {
  INDEX;
  __shared__ float stage[128];
  stage[t] = x[i];
  WAIT;
  __syncthreads();
  y[i] = stage[t ^ 1];
}
KERNEL reads_scale_first(float* y, const float* x) {
  INDEX;
  __shared__ float scale;
  if (t == 0) scale = x[0];
  WAIT;
  __syncthreads();
  y[i] = x[i] * scale;
}
KERNEL reads_vector_first(float* y, const float4* x) {
  INDEX;
  const float4 v = x[i / 4];
  WAIT;
  y[i] = v.x + v.y + v.z + v.w;
}
KERNEL reads_half_first(float* y, const unsigned short* x) {
  INDEX;
  const float v = x[i];
  WAIT;
  y[i] = v;
}

__device__ __noinline__ float element_of(const float* x, int i) { return __ldg(x + i); }
KERNEL reads_in_function_first(float* y, const float* x) {
  INDEX;  // the wait comes after the call, in the caller
  float v = 0;
  if (t % 8 == 3) v = element_of(x, i);
  WAIT;
  y[i] = v + element_of(x, i);
}
// A scheduler that every thread makes, before one warp waits.
struct Tiles {
  int count;
  __device__ explicit Tiles(const float* sizes) : count(sizes[0] > 1e9f ? 3 : 2) {}
};
KERNEL schedules_first(float* y, const float* x) {
  INDEX;
  const Tiles tiles(x);
  if (t < 32) WAIT;
  __syncthreads();
  for (int tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    y[tile * 128 + t] = x[tile * 128 + t];
  }
}

// --- Writes before the wait ---
KERNEL clears_first(float* y, const float* x) { INDEX; y[i] = 0; WAIT; y[i] += x[i]; }
KERNEL counts_first(float* y) {
  INDEX;
  if (t == 0) atomicAdd(y + blockIdx.x, 1.0f);
  WAIT;
}
KERNEL heads_first(float* y) {
  INDEX;
  if (i == 0) y[0] = 1;
  WAIT;
}

// --- A wait that is missing ---
KERNEL half_waits(float* y, const float* x) {
  INDEX;
  if (t < 32) WAIT;
  y[i] = x[i] + 1;
}
KERNEL barrier_too_early(float* y, const float* x) {
  INDEX;
  __syncthreads();
  if (t < 32) WAIT;
  y[i] = x[i] + 1;
}
KERNEL other_barrier(float* y, const float* x) {
  INDEX;
  if (t < 32) {
    WAIT;
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else if (t < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  y[i] = x[i] + 1;
}
KERNEL one_path_waits(float* y, const float* x, int n) {
  INDEX;
  if (i < n) WAIT;
  y[i] = x[i] + 1;
}
// Blocks after the first do not enter the loop.
KERNEL waits_in_loop(float* y, const float* x, int n) {
  INDEX;
  for (int k = blockIdx.x; k < n; ++k) WAIT;
  y[i] = x[i] + 1;
}
// The rest that does not fill the tile has a way of its own.
KERNEL tail_does_not_wait(float* y, const float* x, int n) {
  INDEX;
  if (i >= n) {
    y[i] = x[i] - 1;
    return;
  }
  WAIT;
  y[i] = x[i] + 1;
}
KERNEL lane_waits_alone(float* y, const float* x) {
  INDEX;
  if (t % 32 == 0) WAIT;
  y[i] = x[i] + 1;
}
KERNEL waits_never(float* y, const float* x) { INDEX; y[i] = x[i] + 1; }
KERNEL triggers_only(float* y, const float* x) { INDEX; TRIGGER; y[i] = x[i] + 1; }
KERNEL compiled_out(float* y, const float* x) {
  INDEX;
#ifdef GDC_ENABLED_SOMEWHERE_ELSE
  WAIT;
#endif
  y[i] = x[i] + 1;
}
KERNEL waits_if(int n) {
  TRIGGER;
  if (n < 0) WAIT;
}
