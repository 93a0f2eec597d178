// The scores of all tokens, the choice of the next one, and the step to the next position.
#include "matvec.cuh"

using namespace llama;

// A number between 0 and 1, both excluded, of a seed and two counters (SplitMix64).
__device__ __forceinline__ float uniform(unsigned long long seed, unsigned position,
                                         unsigned token) {
  unsigned long long z = seed + (static_cast<unsigned long long>(position) << 32 | token) + 1;
  z *= 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return (static_cast<float>(z >> 41) + 0.5f) * 0x1p-23f;
}

// Orders as the score does, and equal scores by the smaller token.
__device__ __forceinline__ unsigned long long key_of(float score, unsigned token) {
  unsigned bits = __float_as_uint(score);
  bits = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return static_cast<unsigned long long>(bits) << 32 | ~token;
}

struct Head : Consecutive {
  using Early = Nothing;
  using Late = Nothing;

  const float* x;
  float* logits;
  unsigned first_token;
  unsigned position;
  float temperature;
  unsigned long long seed;
  Norm norm;
  unsigned long long best;  // of this thread

  __device__ void ask_ahead() const {}
  __device__ void prepare(uint4* to) const { norm.prepare(to); }
  __device__ Nothing early(unsigned) const { return {}; }
  __device__ Nothing late(unsigned) const { return {}; }
  __device__ void vector(uint4* to) const { norm.apply_to(to, x); }
  // The largest of score / temperature + Gumbel noise is a sample of the softmax.
  __device__ void consider(float score, unsigned token) {
    if (temperature > 0.0f) {
      score = score / temperature - logf(-logf(uniform(seed, position, token)));
    }
    const unsigned long long key = key_of(score, token);
    best = key > best ? key : best;
  }
  __device__ void finish(unsigned unit, Nothing, Nothing, float first, float second) {
    const float scale = norm.scale();
    first *= scale;
    second *= scale;
    reinterpret_cast<float2*>(logits)[unit] = float2{first, second};
    consider(first, first_token + 2 * unit);
    consider(second, first_token + 2 * unit + 1);
  }
};

// The key that won becomes the next token, and the step to the next position is made.
__device__ void take(unsigned long long key, int* tokens, int* position, int* go, int prompt,
                     int stop) {
  const int token = static_cast<int>(~static_cast<unsigned>(key));
  const int next = *position + 1;
  if (*go == 0) return;
  if (next >= prompt) tokens[next] = token;
  *position = next;
  *go = next >= prompt && token == stop ? 0 : *go - 1;
}

// Sets `go` to the positions that a run moves on: those of the prompt that are left, and `steps`
// more. It is 0 if the text has ended. Without `resume` the text begins anew after its prompt.
extern "C" __global__ void begin(const int* tokens, int* position, int* go, int steps, int resume,
                                 int prompt, int limit, int stop) {
  const int at = resume ? *position : 0;
  const int room = limit - at;
  const bool ended = room <= 0 || (at >= prompt && tokens[at] == stop);
  const int left = max(prompt - 1 - at, 0);
  *position = at;
  *go = ended ? 0 : min(steps, room - left) + left;
}

// Of several ranks: `best` is that of all tokens.
extern "C" __global__ void choose(unsigned long long* best, int* tokens, int* position, int* go,
                                  int prompt, int stop) {
  take(*best, tokens, position, go, prompt, stop);
  *best = 0;
}

// Scores the `vocabulary` tokens of this rank, from `first_token` on. With one rank it also
// chooses.
//
// `best` and `ticket` are 0 between launches. `tokens` has the prompt, then what was chosen. `go`
// counts down, and becomes 0 after the token `stop`. A launch with go = 0 changes neither the text
// nor the position, but the scores.
extern "C" __global__ void __launch_bounds__(kThreads)
    head(const __nv_bfloat16* w, const __nv_bfloat16* norm, const float* x, float* logits,
         int* tokens, int* position, int* go, unsigned long long* best, unsigned* ticket,
         unsigned vocabulary, unsigned columns, float epsilon, float temperature,
         unsigned long long seed, int prompt, int stop, unsigned stages,
         unsigned first_token, unsigned ranks) {
  __shared__ __align__(16) float partial[kWarps];
  const int at = *position;
  Head work{{w, columns},
            x,
            logits,
            first_token,
            static_cast<unsigned>(at),
            temperature,
            seed,
            Norm(norm, columns, epsilon, partial),
            0};
  stream_pairs(work, vocabulary / 2, columns, stages);

  __shared__ unsigned long long block_best;
  if (threadIdx.x == 0) block_best = 0;
  __syncthreads();
  if (work.best != 0) atomicMax(&block_best, work.best);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicMax(best, block_best);
  __threadfence();
  if (atomicAdd(ticket, 1) + 1 != gridDim.x) return;

  // The last block: all others have given their best.
  __threadfence();
  *ticket = 0;
  if (ranks > 1) return;
  take(atomicExch(best, 0ull), tokens, position, go, prompt, stop);
}
