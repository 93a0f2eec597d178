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
