#!/bin/sh
# Compiles all_reduce.cu to all_reduce.ptx, and to all_reduce_90.ptx for devices with programmatic
# dependent launch. The build embeds both. Any nvcc from CUDA 12 on. The text is of PTX ISA 8.4
# (CUDA 12.4), so that drivers older than the compiler take it too. That is the first with accesses of
# 128 bits.
set -e
cd "$(dirname "$0")"
compile() {
  text=$1
  shift
  "${NVCC:-nvcc}" -ptx "$@" -std=c++20 --expt-relaxed-constexpr -O3 -o "$text" all_reduce.cu
  sed -i -e '/^\/\//d' -e 's/^\.version .*/.version 8.4/' "$text"
}
compile all_reduce.ptx -arch=compute_80
compile all_reduce_90.ptx -arch=compute_90 -DBATON_WAITS
