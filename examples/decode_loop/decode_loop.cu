// One token of a small language model: a cache of keys and values that grows by a row, attention
// over it, and the choice of the next token. The position and the token are in device memory, so
// that the host enqueues the same launches for each token. Every kernel waits for the launch before
// it, so that it may start early.
#include <baton/device/pdl.cuh>

using baton::device::pdl_trigger;
using baton::device::pdl_wait;

constexpr int kWarp = 32;

__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  }
  return value;
}

// The rows of wq, wk and wv under one another.
extern "C" __global__ void pack(const float* wq, const float* wk, const float* wv, float* packed,
                                int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int count = k * k;
  if (i < count) {
    packed[i] = wq[i];
    packed[count + i] = wk[i];
    packed[2 * count + i] = wv[i];
  }
}

// The query of the token, and its rows of the cache: one warp for each row of the packed weights.
extern "C" __global__ void project(const float* packed, const float* embedding, const int* token,
                                   const int* position, float* query, float* keys, float* values,
                                   int k) {
  const int lane = threadIdx.x % kWarp;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  pdl_wait();
  pdl_trigger();
  if (row >= 3 * k) return;
  const float* x = embedding + *token * k;
  float sum = 0.0f;
  for (int i = lane; i < k; i += kWarp) sum += packed[row * k + i] * x[i];
  sum = warp_sum(sum) * rsqrtf(static_cast<float>(k));
  if (lane != 0) return;
  const int at = *position * k;
  if (row < k) {
    query[row] = sum;
  } else if (row < 2 * k) {
    keys[at + row - k] = sum;
  } else {
    values[at + row - 2 * k] = sum;
  }
}

// Attention of one head over the rows up to the position, by one block. `scores` has a word for
// each row of the cache.
extern "C" __global__ void attend(const float* query, const float* keys, const float* values,
                                  const int* position, float* attended, int k) {
  extern __shared__ float scores[];
  pdl_wait();
  pdl_trigger();
  const int rows = *position + 1;
  for (int row = threadIdx.x; row < rows; row += blockDim.x) {
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += query[i] * keys[row * k + i];
    scores[row] = sum * rsqrtf(static_cast<float>(k));
  }
  __syncthreads();
  float most = scores[0];
  for (int row = 1; row < rows; ++row) most = fmaxf(most, scores[row]);
  for (int column = threadIdx.x; column < k; column += blockDim.x) {
    float sum = 0.0f, weight = 0.0f;
    for (int row = 0; row < rows; ++row) {
      const float share = expf(scores[row] - most);
      sum += share * values[row * k + column];
      weight += share;
    }
    attended[column] = sum / weight;
  }
}

// One warp for each token of the vocabulary.
extern "C" __global__ void score(const float* head, const float* attended, float* logits, int v,
                                 int k) {
  const int lane = threadIdx.x % kWarp;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  pdl_wait();
  pdl_trigger();
  if (row >= v) return;
  float sum = 0.0f;
  for (int i = lane; i < k; i += kWarp) sum += head[row * k + i] * attended[i];
  sum = warp_sum(sum);
  if (lane == 0) logits[row] = sum;
}

// Takes the most likely token, notes it, and moves on. One block of one warp.
extern "C" __global__ void choose(const float* logits, int* token, int* position, int* tokens,
                                  int v) {
  pdl_wait();
  pdl_trigger();
  int best = threadIdx.x;
  for (int i = threadIdx.x; i < v; i += kWarp) {
    if (logits[i] > logits[best]) best = i;
  }
  float value = best < v ? logits[best] : -INFINITY;
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const float other_value = __shfl_xor_sync(0xffffffffu, value, offset);
    const int other = __shfl_xor_sync(0xffffffffu, best, offset);
    if (other_value > value || (other_value == value && other < best)) {
      value = other_value;
      best = other;
    }
  }
  if (threadIdx.x == 0) {
    tokens[*position] = best;
    *token = best;
    *position += 1;
  }
}
