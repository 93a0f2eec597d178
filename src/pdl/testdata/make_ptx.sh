#!/bin/sh
# Builds the corpus's PTX with nvcc of CUDA 13.0: as it is, and slow.
set -eu
cd "$(dirname "$0")"
build() {
  nvcc -ptx -arch=compute_90 -lineinfo "$@"
}
build -o corpus.ptx corpus.cu
build -DSLOW -o corpus_slow.ptx corpus.cu
# No path of the machine they were built on.
sed -i "s#\"[^\"]*/\([^/\"]*\)\"\(.*\)#\"\1\"\2#" corpus.ptx corpus_slow.ptx
