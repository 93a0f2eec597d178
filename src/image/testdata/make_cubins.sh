#!/bin/sh
# Compiles the test vectors: make_cubins.sh [NVCC]. The cubins in this folder were made with CUDA
# 13.0.88.
set -eu
cd "$(dirname "$0")"
nvcc=${1:-nvcc}
for arch in sm_80 sm_90 sm_90a sm_100a; do
  "$nvcc" -std=c++17 -arch="$arch" -cubin -o "vectors_$arch.cubin" vectors.cu
done
# Device functions stay functions of their own; before the device link and after it.
"$nvcc" -std=c++17 -arch=sm_90 -rdc=true -cubin -o relocatable_sm_90.cubin vectors.cu
"$nvcc" -std=c++17 -arch=sm_90 -dlink -cubin -o linked_sm_90.cubin relocatable_sm_90.cubin
