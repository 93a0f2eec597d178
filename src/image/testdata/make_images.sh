#!/bin/sh
# Compiles the test vectors: make_images.sh [NVCC [PTXAS-12.4 PTXAS-12.9]]. The images in this folder were made with CUDA
# 13.0.88.
set -eu
cd "$(dirname "$0")"
nvcc=${1:-nvcc}
for arch in sm_80 sm_90 sm_90a sm_100a sm_120; do
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

# The source's folder becomes part of these.
here=$(pwd)
mkdir -p /tmp/baton-images
cp second.cu /tmp/baton-images
(cd /tmp/baton-images
  "$nvcc" -std=c++17 -arch=sm_90 -cubin -lineinfo -o "$here/debug_lines.cubin" second.cu
  "$nvcc" -std=c++17 -arch=sm_90 -cubin -G -o "$here/debug_full.cubin" second.cu)

# As older assemblers write them, given the folder of ptxas of CUDA 12.4 and of CUDA 12.9 (the wheels
# nvidia-cuda-nvcc-cu12): the PTX is today's under an older version, less what that does not know.
if [ $# -ge 3 ]; then
  older() {  # ptxas, PTX version, virtual architecture, name
    "$nvcc" -std=c++17 -arch="compute_$3" -ptx -o older.ptx vectors.cu
    sed -i -e "s/^\.version .*/.version $2/" -e /blocksareclusters/d older.ptx
    "$1/ptxas" -arch="sm_$3" -o "vectors_sm_$3_$4.cubin" older.ptx
    rm older.ptx
  }
  older "$2" 8.4 80 cuda124
  older "$2" 8.4 90a cuda124
  older "$3" 8.7 100a cuda129
fi

# Inside host files: two translation units in a shared object, one of them for two architectures;
# an object and an archive of it; a program after a device link; plain arrays in an object.
host="-std=c++17 -cudart=shared -Xcompiler -fPIC -Xlinker -s"
"$nvcc" $host -c -o packed.o -gencode arch=compute_80,code=sm_80 \
  -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_90,code=compute_90 packed.cu
"$nvcc" $host -c -arch=sm_90 -o second.o second.cu
"$nvcc" $host -shared -arch=sm_90 -o host_shared.so packed.o second.o
rm -f host_archive.a
ar rcDS host_archive.a packed.o second.o
mv second.o host_object.o
rm packed.o
"$nvcc" $host -rdc=true -arch=sm_90 -o host_linked second.cu main.cu
"$nvcc" -std=c++17 -arch=sm_90 -cubin -o array.cubin second.cu
"$nvcc" -std=c++17 -arch=compute_90 -ptx -o array.ptx second.cu
g++ -c -o host_arrays.o -x assembler - <<'ASM'
.section .rodata
.globl __tvm_ffi__cubin_second, __tvm_ffi__cubin_second_end, ptx
.ascii "the bytes before"
.byte 1
__tvm_ffi__cubin_second: .incbin "array.cubin"
__tvm_ffi__cubin_second_end: .byte 0
ptx: .incbin "array.ptx"
.byte 0
.section .data, "aw"
.incbin "packed_none.fatbin"
.section .note.GNU-stack, "", @progbits
ASM
rm array.cubin array.ptx
