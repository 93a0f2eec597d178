// Kernels that show how they were launched, built by make_ptx.sh.

// Adds one once the step before is done.
extern "C" __global__ void after(int* x, unsigned n) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

// Never waits for the step before.
extern "C" __global__ void hasty(int* x, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1;
}

// Each block's place in its cluster, and the blocks of the cluster.
extern "C" __global__ void clusters(unsigned* rank, unsigned* size) {
  if (threadIdx.x != 0) return;
  unsigned r, s;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(s));
  rank[blockIdx.x] = r;
  size[blockIdx.x] = s;
}
