// Kernels for the edges between launches, built by make_ptx.sh. Each adds 1 to what it reads, for
// one thread of one element, unless it says otherwise.

__device__ int counter;
__constant__ int offset;

__device__ __forceinline__ unsigned element() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ void wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
__device__ __forceinline__ void trigger() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

extern "C" __global__ void late(const int* from, int* to) {
  wait();
  to[element()] = from[element()] + 1;
}

// Reads what it adds before the wait.
extern "C" __global__ void ahead(const int* more, const int* from, int* to) {
  const int added = *static_cast<const volatile int*>(more + element());
  wait();
  to[element()] = from[element()] + added;
}

// Overwrites before the wait what others may still read.
extern "C" __global__ void overwrites(int* to) {
  to[element()] = 7;
  wait();
}

extern "C" __global__ void never(const int* from, int* to) {
  to[element()] = from[element()] + 1;
}

extern "C" __global__ void idle() {}

// Threads without an element end before the wait.
extern "C" __global__ void returns(const int* from, int* to, unsigned n) {
  if (element() >= n) return;
  wait();
  to[element()] = from[element()] + 1;
}

extern "C" __global__ void eager(const int* from, int* to) {
  trigger();
  wait();
  to[element()] = from[element()] + 1;
}

// One thread waits for its block.
extern "C" __global__ void one_waits(const int* from, int* to) {
  if (threadIdx.x == 0) wait();
  __syncthreads();
  to[element()] = from[element()] + 1;
}

extern "C" __global__ void non_coherent(const int* __restrict__ from, int* __restrict__ to) {
  wait();
  to[element()] = __ldg(from + element()) + 1;
}

extern "C" __global__ void counts() {
  wait();
  if (element() == 0) ++counter;
}

// The counter before the wait.
extern "C" __global__ void counted(int* to) {
  const int count = *static_cast<volatile int*>(&counter);
  wait();
  to[element()] = count;
}

extern "C" __global__ void adds_offset(const int* from, int* to) {
  wait();
  to[element()] = from[element()] + offset;
}

// An address that stands in memory.
extern "C" __global__ void indirect(int* const* pointer, int* to) {
  const int value = *static_cast<const volatile int*>(*static_cast<int* const volatile*>(pointer));
  wait();
  to[element()] = value;
}

// Lets the next launch in when it has waited.
extern "C" __global__ void hands_over(const int* from, int* to) {
  wait();
  trigger();
  to[element()] = from[element()] + 1;
}

// Threads from n on read before they wait.
extern "C" __global__ void reads_beyond(const int* from, int* to, unsigned n) {
  if (element() >= n) {
    to[element() + 32] = from[element() + 32];
    return;
  }
  wait();
  to[element()] = from[element()] + 1;
}
