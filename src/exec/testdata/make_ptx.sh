#!/bin/sh
# Builds kernels.ptx from kernels.cu, with nvcc of CUDA 13.0.
set -eu
cd "$(dirname "$0")"
nvcc -ptx -arch=compute_90 -lineinfo -o kernels.ptx kernels.cu
# No path of the machine it was built on.
sed -i "s#\"[^\"]*/\([^/\"]*\)\"\(.*\)#\"\1\"\2#" kernels.ptx
