# cmake -DOUTPUT=file.cc -DPTX=all_reduce.ptx -P embed.cmake
cmake_minimum_required(VERSION 3.25)
file(READ "${PTX}" text)
file(WRITE "${OUTPUT}" "// Written by src/peer/embed.cmake.
#include \"peer/kernels.h\"

const char* baton::peer::kernels_ptx() {
  return R\"~BATON~(${text})~BATON~\";
}
")
