#pragma once

// Elements in packs of 16 bytes, and the values that they are computed with: f32 for floats.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace baton::peer {

using Vector = uint4;

// Integers, and f32.
template <class T>
__device__ T load(T value) {
  return value;
}
__device__ inline float load(__half value) {
  return __half2float(value);
}
__device__ inline float load(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
template <class T>
__device__ void store(T* to, T value) {
  *to = value;
}
__device__ inline void store(__half* to, float value) {
  *to = __float2half_rn(value);
}
__device__ inline void store(__nv_bfloat16* to, float value) {
  *to = __float2bfloat16_rn(value);
}

template <class T>
using Value = decltype(load(T()));

template <class T>
constexpr unsigned kEach = sizeof(Vector) / sizeof(T);

// Of the elements at a place, as many as there are; the others of the pack are not looked at.
template <class T>
struct Pack {
  Vector bits;
  __device__ Value<T> operator[](unsigned j) const {
    return load(reinterpret_cast<const T*>(&bits)[j]);
  }
  // Rounds.
  __device__ void set(unsigned j, Value<T> value) { store(reinterpret_cast<T*>(&bits) + j, value); }
};

template <class T>
__device__ unsigned packs_of(unsigned count) {
  return (count + kEach<T> - 1) / kEach<T>;
}

// The first elements of a pack, and zeros. Functions, since they are many instructions.
template <class T>
__device__ __noinline__ Vector load_some(const T* from, unsigned count) {
  Vector bits = {0, 0, 0, 0};
#pragma unroll
  for (unsigned j = 0; j < kEach<T>; ++j) {
    if (j < count) reinterpret_cast<T*>(&bits)[j] = from[j];
  }
  return bits;
}
template <class T>
__device__ __noinline__ void store_some(T* to, unsigned count, Vector bits) {
#pragma unroll
  for (unsigned j = 0; j < kEach<T>; ++j) {
    if (j < count) to[j] = reinterpret_cast<const T*>(&bits)[j];
  }
}

// `count`: elements at the place. kEven: places and counts are multiples of a pack, which code for
// many launches knows.
template <bool kEven, class T>
__device__ Pack<T> load_pack(const T* from, unsigned k, unsigned count) {
  if (kEven || (reinterpret_cast<unsigned long long>(from) % sizeof(Vector) == 0 &&
                count - k * kEach<T> >= kEach<T>)) {
    return {reinterpret_cast<const Vector*>(from)[k]};
  }
  return {load_some(from + k * kEach<T>, count - k * kEach<T>)};
}

template <bool kEven, class T>
__device__ void store_pack(T* to, unsigned k, unsigned count, const Pack<T>& pack) {
  if (kEven || (reinterpret_cast<unsigned long long>(to) % sizeof(Vector) == 0 &&
                count - k * kEach<T> >= kEach<T>)) {
    reinterpret_cast<Vector*>(to)[k] = pack.bits;
  } else {
    store_some(to + k * kEach<T>, count - k * kEach<T>, pack.bits);
  }
}

}  // namespace baton::peer
