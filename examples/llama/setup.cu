// What is made once: the table of the rotary embedding, and random weights where no file has them.
#include <cuda_bf16.h>

// Cosine and sine of each position and pair of columns. `factor` above 1 stretches the long waves
// as Llama 3.1 and later do: waves longer than original / low are `factor` times as long, those
// shorter than original / high stay, and those between are in between (transformers,
// modeling_rope_utils.py, rope type "llama3").
extern "C" __global__ void rope_table(float2* table, unsigned positions, unsigned half, float theta,
                                      float factor, float low, float high, float original) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= positions * half) return;
  const unsigned position = i / half, pair = i % half;
  float frequency = 1.0f / powf(theta, static_cast<float>(pair) / static_cast<float>(half));
  if (factor > 1.0f) {
    const float wave = 6.283185307179586f / frequency;
    const float smooth = (original / wave - low) / (high - low);
    if (wave > original / low) {
      frequency /= factor;
    } else if (wave >= original / high) {
      frequency = (1.0f - smooth) * frequency / factor + smooth * frequency;
    }
  }
  float sine, cosine;
  sincosf(static_cast<float>(position) * frequency, &sine, &cosine);
  table[i] = float2{cosine, sine};
}

// Random numbers of mean `mean`, uniform, with the deviation given: part `part` of an array, of
// which each of `parts` has runs of `run` elements in turn.
extern "C" __global__ void random_weights(__nv_bfloat16* w, unsigned long long count,
                                          unsigned long long seed, float mean, float deviation,
                                          unsigned long long run, unsigned long long parts,
                                          unsigned long long part) {
  const unsigned long long threads = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i =
           blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
       i < count; i += threads) {
    const unsigned long long in_whole = (i / run * parts + part) * run + i % run;
    unsigned long long z = (seed << 40) + in_whole + 1;
    z *= 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    const float unit = (static_cast<float>(z >> 40) + 0.5f) * 0x1p-24f - 0.5f;
    w[i] = __float2bfloat16(mean + unit * 3.4641016f * deviation);
  }
}
