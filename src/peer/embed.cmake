# cmake -DOUTPUT=file.cc -DPTX=all_reduce.ptx -DPTX_90=all_reduce_90.ptx -P embed.cmake
cmake_minimum_required(VERSION 3.25)
file(READ "${PTX}" text)
file(READ "${PTX_90}" text_90)
file(WRITE "${OUTPUT}" "// Written by src/peer/embed.cmake.
#include \"peer/kernels.h\"

const char* baton::peer::kernels_ptx(bool waits) {
  return waits ? R\"~BATON~(${text_90})~BATON~\" : R\"~BATON~(${text})~BATON~\";
}
")
