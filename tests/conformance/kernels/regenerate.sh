#!/bin/sh
# Makes the prebuilt images from prebuilt.cu: PTX that any architecture from 8.0 on compiles, and
# machine code for two of them.
set -e
cd "$(dirname "$0")"
nvcc -std=c++17 -arch=compute_80 --ptx -o prebuilt.ptx prebuilt.cu
nvcc -std=c++17 -arch=sm_80 --cubin -o prebuilt_sm_80.cubin prebuilt.cu
nvcc -std=c++17 -arch=sm_90 --cubin -o prebuilt_sm_90.cubin prebuilt.cu
