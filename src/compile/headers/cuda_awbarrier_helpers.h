#pragma once
// CUDA's own file declares 64-bit types as `long long` under NVRTC; for nvcc it takes <stdint.h>'s.
#include <nv/target>
#include <stdint.h>
#undef __CUDACC_RTC__
// The dot keeps its name apart from this one's.
#include <./cuda_awbarrier_helpers.h>
#define __CUDACC_RTC__ 1
