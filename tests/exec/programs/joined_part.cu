// The other object of joined.cu.
__device__ int triple(int x) {
  return 3 * x;
}
__device__ int added = 1;
__constant__ int thousand = 1000;

void set_added(int value) {
  cudaMemcpyToSymbol(added, &value, sizeof value);
}
