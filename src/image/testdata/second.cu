// A second translation unit, for host files that embed several images.
__device__ int second_calls;

__global__ void second(int* out) {
  second_calls = 1;
  out[threadIdx.x] = 2;
}

void launch_second(int* out) { second<<<1, 32>>>(out); }
