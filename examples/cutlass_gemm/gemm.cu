// The kernel, for an image of its own: main.cu launches it from there.
#include "gemm.h"

template __global__ void cutlass::device_kernel<example::GemmKernel>(
    CUTLASS_GRID_CONSTANT example::GemmKernel::Params const);
