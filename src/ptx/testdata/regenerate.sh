#!/bin/sh
# Compiles every cu/*.cu to ptx/ with nvcc and with NVRTC, for the targets that the source names in
# its "// targets:" line. The sources are copied to a folder of a fixed name, since debug
# information holds the path. What hand/ holds is written by hand. Needs a CUDA toolkit: CUDA_HOME, or /usr/local/cuda.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cuda=${CUDA_HOME:-/usr/local/cuda}
work=/tmp/baton-ptx
rm -rf "$work" "$here/ptx"
mkdir -p "$work" "$here/ptx"
cp "$here"/cu/*.cu "$work"
cd "$work"

nvcc_ptx() { # source target suffix option...
  source=$1 target=$2 suffix=$3
  shift 3
  "$cuda/bin/nvcc" -ptx "-arch=$target" "$@" "$source.cu" -o "$here/ptx/$source.nvcc.$target$suffix.ptx"
}
nvrtc_ptx() {
  source=$1 target=$2 suffix=$3
  shift 3
  python3 "$here/nvrtc_ptx.py" "$cuda/lib64/libnvrtc.so" "$source.cu" \
    "$here/ptx/$source.nvrtc.$target$suffix.ptx" "-arch=compute_${target#sm_}" \
    "-I$cuda/include" "-I$cuda/include/cccl" "$@"
}

for file in *.cu; do
  source=${file%.cu}
  for target in $(sed -n 's,^// targets: ,,p' "$file"); do
    nvcc_ptx "$source" "$target" ""
    nvrtc_ptx "$source" "$target" ""
  done
done
for source in calls memory switch templates; do
  nvcc_ptx "$source" sm_90 .G -G
  nvcc_ptx "$source" sm_90 .lineinfo -lineinfo
  nvrtc_ptx "$source" sm_90 .G --device-debug
  nvrtc_ptx "$source" sm_90 .lineinfo --generate-line-info
done
nvcc_ptx calls sm_90 .rdc -rdc=true
nvcc_ptx memory sm_90 .rdc -rdc=true
nvcc_ptx structs sm_100 ""
