#!/bin/sh
# Compiles all_reduce.cu to all_reduce.ptx, which the build embeds. Any nvcc from CUDA 12 on. The
# text is of PTX ISA 7.8 (CUDA 11.8), so that drivers older than the compiler take it too.
set -e
cd "$(dirname "$0")"
"${NVCC:-nvcc}" -ptx -arch=compute_80 -std=c++17 --expt-relaxed-constexpr -O3 -o all_reduce.ptx all_reduce.cu
sed -i -e '/^\/\//d' -e 's/^\.version .*/.version 7.8/' all_reduce.ptx
