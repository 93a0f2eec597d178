// The products of one layer of a Llama while it decodes one token. Weights are bf16, the residual x
// and all sums are float.
//
// `position` counts the tokens that the caches have. It changes in `begin`, `head` and `choose`. The
// launch after each of them has a full edge: all kernels here may read it before their wait.
#include "matvec.cuh"

using namespace llama;

// Rows that alternate: a pair has one of each matrix.
struct Alternating {
  const __nv_bfloat16 *first, *second;
  unsigned columns;

  __device__ const __nv_bfloat16* row(unsigned unit, unsigned which) const {
    return (which == 0 ? first : second) + static_cast<unsigned long long>(unit) * columns;
  }
};

// x = keep x + W v: `keep` is 1, or 0 where another rank has the x that all ranks add to
struct Residual : Consecutive {
  using Early = Nothing;
  using Late = float2;

  const __nv_bfloat16* v;
  float* x;
  float keep;
  struct {
    Alternating rows;
    unsigned units, stages, count;
  } ahead;

  __device__ void ask_ahead() const {
    prefetch_pairs(ahead.rows, ahead.units, ahead.rows.columns, ahead.stages, ahead.count);
  }
  __device__ void prepare(uint4*) const {}
  __device__ Nothing early(unsigned) const { return {}; }
  __device__ float2 late(unsigned unit) const { return reinterpret_cast<const float2*>(x)[unit]; }
  __device__ void vector(uint4* to) const {
    const auto* from = reinterpret_cast<const uint4*>(v);
    for (unsigned i = threadIdx.x; i < columns / 8; i += kThreads) to[i] = from[i];
  }
  __device__ void finish(unsigned unit, Nothing, float2 before, float first, float second) const {
    reinterpret_cast<float2*>(x)[unit] =
        float2{fmaf(before.x, keep, first), fmaf(before.y, keep, second)};
  }
};

// Before its wait it also asks L2 for `ahead` pieces for each warp of the product of gate and up
// that follows.
extern "C" __global__ void __launch_bounds__(kThreads, 3)
    add_product(const __nv_bfloat16* w, const __nv_bfloat16* v, float* x, unsigned rows,
                unsigned columns, unsigned stages, float keep, const __nv_bfloat16* gate,
                const __nv_bfloat16* up, unsigned next_rows, unsigned next_columns,
                unsigned next_stages, unsigned ahead) {
  Residual work{
      {w, columns}, v, x, keep, {{gate, up, next_columns}, next_rows, next_stages, ahead}};
  stream_pairs<false>(work, rows / 2, columns, stages);
}

// Query, key and value of one token. The query is put into q; key and value become row `position`
// of their caches. A pair of rows is what the rotary embedding turns: i and i + width / 2 of a
// head.
struct Projection {
  struct Early {
    float2 turn;     // cosine and sine
    unsigned place;  // in the query, or in the row of a cache
    bool is_query, is_key;
  };
  using Late = Nothing;

  const __nv_bfloat16 *wq, *wk, *wv;
  const __nv_bfloat16* embedding;  // null but in the first layer
  const int* tokens;
  const float2* rope;
  float *x, *q;
  __nv_bfloat16 *k, *v;
  unsigned columns, heads, kv_heads, width, position;
  Norm norm;

  __device__ unsigned half() const { return width / 2; }
  __device__ unsigned place(unsigned unit) const { return unit / half() * width + unit % half(); }

  __device__ const __nv_bfloat16* row(unsigned unit, unsigned which) const {
    const __nv_bfloat16* w = wq;
    if (unit >= heads * half()) {
      unit -= heads * half();
      w = wk;
      if (unit >= kv_heads * half()) {
        unit -= kv_heads * half();
        w = wv;
      }
    }
    return w + static_cast<unsigned long long>(place(unit) + which * half()) * columns;
  }
  __device__ void ask_ahead() const {}
  __device__ void prepare(uint4* to) const { norm.prepare(to); }
  __device__ Early early(unsigned unit) const {
    const float2 turn = rope[position * half() + unit % half()];
    if (unit < heads * half()) return {turn, place(unit), true, false};
    unit -= heads * half();
    const bool is_key = unit < kv_heads * half();
    if (!is_key) unit -= kv_heads * half();
    return {turn, place(unit), false, is_key};
  }
  __device__ Nothing late(unsigned) const { return {}; }

  __device__ void vector(uint4* to) const {
    if (embedding == nullptr) {
      norm.apply_to(to, x);
      return;
    }
    const auto* from = reinterpret_cast<const uint4*>(
        embedding + static_cast<unsigned long long>(tokens[position]) * columns);
    norm.apply(to, [&](unsigned i, float(&out)[8]) {
      const uint4 bits = from[i];
      const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&bits);
#pragma unroll
      for (int k = 0; k < 4; ++k) reinterpret_cast<float2*>(out)[k] = __bfloat1622float2(pairs[k]);
      if (blockIdx.x != 0) return;
      reinterpret_cast<float4*>(x)[2 * i] = float4{out[0], out[1], out[2], out[3]};
      reinterpret_cast<float4*>(x)[2 * i + 1] = float4{out[4], out[5], out[6], out[7]};
    });
  }

  __device__ void finish(unsigned, const Early& early, Nothing, float first, float second) const {
    const float scale = norm.scale();
    first *= scale;
    second *= scale;
    const float low = first * early.turn.x - second * early.turn.y,
                high = second * early.turn.x + first * early.turn.y;
    if (early.is_query) {
      q[early.place] = low;
      q[early.place + half()] = high;
      return;
    }
    __nv_bfloat16* const to = (early.is_key ? k : v) +
                              static_cast<unsigned long long>(position) * kv_heads * width +
                              early.place;
    to[0] = __float2bfloat16(early.is_key ? low : first);
    to[half()] = __float2bfloat16(early.is_key ? high : second);
  }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    project(const __nv_bfloat16* wq, const __nv_bfloat16* wk, const __nv_bfloat16* wv,
            const __nv_bfloat16* norm, const __nv_bfloat16* embedding, const int* tokens,
            const int* position, const float2* rope, float* x, float* q, __nv_bfloat16* k,
            __nv_bfloat16* v, unsigned columns, unsigned heads, unsigned kv_heads, unsigned width,
            bool first_layer, float epsilon, unsigned stages) {
  __shared__ __align__(16) float partial[kWarps];
  Projection work{wq,
                  wk,
                  wv,
                  first_layer ? embedding : nullptr,
                  tokens,
                  rope,
                  x,
                  q,
                  k,
                  v,
                  columns,
                  heads,
                  kv_heads,
                  width,
                  static_cast<unsigned>(*position),
                  Norm(norm, columns, epsilon, partial)};
  stream_pairs(work, (heads + 2 * kv_heads) * width / 2, columns, stages);
}

// active = silu(gate x) * (up x), of the normed x
struct GateUp : Alternating {
  using Early = Nothing;
  using Late = Nothing;

  const float* x;
  __nv_bfloat16* active;
  Norm norm;

  __device__ GateUp(Alternating rows, const float* x, __nv_bfloat16* active, Norm norm)
      : Alternating(rows), x(x), active(active), norm(norm) {}

  __device__ void ask_ahead() const {}
  __device__ void prepare(uint4* to) const { norm.prepare(to); }
  __device__ Nothing early(unsigned) const { return {}; }
  __device__ Nothing late(unsigned) const { return {}; }
  __device__ void vector(uint4* to) const { norm.apply_to(to, x); }
  __device__ void finish(unsigned unit, Nothing, Nothing, float gate, float up) const {
    const float scale = norm.scale();
    gate *= scale;
    active[unit] = __float2bfloat16(gate / (1.0f + __expf(-gate)) * up * scale);
  }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    gate_up(const __nv_bfloat16* gate, const __nv_bfloat16* up, const __nv_bfloat16* norm,
            const float* x, __nv_bfloat16* active, unsigned rows, unsigned columns, float epsilon,
            unsigned stages) {
  __shared__ __align__(16) float partial[kWarps];
  GateUp work({gate, up, columns}, x, active, Norm(norm, columns, epsilon, partial));
  stream_pairs(work, rows, columns, stages);
}
