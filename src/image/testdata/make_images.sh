#!/bin/sh
# Compiles the test vectors: make_images.sh [NVCC]. The images in this folder were made with CUDA
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

# One kernel for several architectures, in every way to pack it.
for mode in default none speed size; do
  "$nvcc" -std=c++17 -fatbin --compress-mode="$mode" -gencode arch=compute_80,code=sm_80 \
    -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90,code=compute_90 \
    -o "packed_$mode.fatbin" packed.cu
done
"$nvcc" -std=c++17 -fatbin -gencode arch=compute_100f,code=sm_100f -o family.fatbin packed.cu
