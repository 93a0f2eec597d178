// Barriers, kernels of which no thread goes on, and weights.

// --- Barriers ---
KERNEL parts_in_warp(float* y, const float* x) {
  INDEX;
  if (t % 2 != 0) {
    asm volatile("bar.sync 0; // odd" ::: "memory");
    y[i] = x[i];
  } else {
    asm volatile("bar.sync 0; // even" ::: "memory");
    y[i] = 2 * x[i];
  }
}
KERNEL parts_in_three(float* y, const float* x) {
  INDEX;
  float v = x[i];
  if (t % 32 == 0) {
    asm volatile("bar.sync 0; // first" ::: "memory");
    v += 1;
  } else if (t % 32 == 31) {
    asm volatile("bar.sync 0; // last" ::: "memory");
    v += 2;
  } else {
    asm volatile("bar.sync 0; // others" ::: "memory");
    v += 3;
  }
  y[i] = v;
}
KERNEL counts_differ(float* y, const float* x) {
  INDEX;
  if (t < 64) {
    asm volatile("bar.sync 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");
  }
  y[i] = x[i];
}
KERNEL exits_before_barrier(float* y, const float* x, int n) {
  INDEX;
  if (i >= n) return;  // whole and part of a warp: exited threads are not waited for
  __syncthreads();
  y[i] = x[i];
}

// --- No thread goes on ---
KERNEL waits_alone(float* y, const float* x) {
  INDEX;
  if (t < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
  y[i] = x[i];
}
KERNEL waits_crosswise(float* y, const float* x) {
  INDEX;
  if (t < 64) {
    asm volatile("bar.sync 1, 128; bar.sync 2, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 128; bar.sync 1, 128;" ::: "memory");
  }
  y[i] = x[i];
}
KERNEL waits_elsewhere(float* y, const float* x) {
  INDEX;
  if (t < 32) {
    asm volatile("bar.sync 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 0, 128;" ::: "memory");
  }
  y[i] = x[i];
}
KERNEL polls_nobody(float* y, const volatile float* x) {
  INDEX;
  while (t % 32 == 0 && x[i] != 1000.0f) {
  }
  y[i] = 1;
}
__device__ float load_plainly(const float* place) {
  float value;
  asm volatile("ld.f32 %0, [%1];" : "=f"(value) : "l"(place) : "memory");
  return value;
}
KERNEL polls_nobody_plainly(float* y, const float* x) {
  INDEX;
  while (t % 32 == 0 && load_plainly(x + i) != 1000.0f) {
  }
  y[i] = 1;
}
KERNEL polls_two_places_plainly(float* y, const float* x) {
  INDEX;
  __shared__ float told;
  if (t == 0) told = 0;
  __syncthreads();
  for (int place = 0; place < 2 && load_plainly(&told) != 1000.0f;) {
    for (int k = 0; k < 7; ++k) {
      if (load_plainly(x + k) == 1000.0f) place = k;
    }
  }
  y[i] = 1;
}
KERNEL locks_for_good(float* y) {
  INDEX;
  if (t == 0) {
    while (atomicCAS(reinterpret_cast<int*>(y), 0, 1) != 0) {
    }
  }
}
KERNEL polls_each_other(float* y) {
  volatile float* flags = y;
  if (threadIdx.x == 0) {
    while (flags[1 - blockIdx.x] != 1.0f) {
    }
    flags[blockIdx.x] = 1;
  }
}

// --- Weights ---
KERNEL writes_weight(float* y, float* w) { INDEX; y[i] = w[i]; w[i] = 0; }
KERNEL counts_in_weight(float* y, float* w) {
  INDEX;
  y[i] = w[i];
  if (t == 0) atomicAdd(w, 1.0f);
}
KERNEL writes_one_weight(float* y, float* w) {
  INDEX;
  y[i] = w[i];
  if (i == 5) w[200] = 1;
}

KERNEL publishes_in_weight(float* y, float* w) {
  INDEX;
  y[i] = w[i];
  if (i == 0) *static_cast<volatile float*>(w) = 1;
}
