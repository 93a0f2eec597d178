#include <cassert>

extern "C" __global__ void write_at(int* target, long long index, int value) {
  target[index] = value;
}

extern "C" __global__ void read_at(int* out, const int* source, long long index) {
  *out = source[index];
}

extern "C" __global__ void misaligned(char* bytes, int offset) {
  *reinterpret_cast<int*>(bytes + offset) = 1;
}

extern "C" __global__ void trap_if(int condition) {
  if (condition != 0) asm volatile("trap;");
}

extern "C" __global__ void add_one(int* value) { *value += 1; }

extern "C" __global__ void assert_below(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit);
}
