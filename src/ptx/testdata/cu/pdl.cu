// Programmatic dependent launch.
// targets: sm_90 sm_90a
#include <cuda_device_runtime_api.h>
extern "C" __global__ void dependent(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float scale = n > 4 ? 2.0f : 3.0f;
  cudaGridDependencySynchronize();
  if (i < n) out[i] = in[i] * scale;
  cudaTriggerProgrammaticLaunchCompletion();
}
extern "C" __global__ void assembled(float* out) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[0] = 1;
}
