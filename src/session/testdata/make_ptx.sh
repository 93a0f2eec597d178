#!/bin/sh
# Builds each .ptx from its .cu, with nvcc of CUDA 13.0.
set -eu
cd "$(dirname "$0")"
for source in *.cu; do
  target="${source%.cu}.ptx"
  nvcc -ptx -arch=compute_90 -lineinfo -o "$target" "$source"
  # No path of the machine it was built on.
  sed -i "s#\"[^\"]*/\([^/\"]*\)\"\(.*\)#\"\1\"\2#" "$target"
done
