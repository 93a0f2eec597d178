# cmake -DOUTPUT=file.cc -DROOT=folder -DHEADERS=a;b -DDEVICE_HEADERS=c;d -DHOST_HEADERS=names.txt
#   -P embed.cmake
# HEADERS are named by their paths below ROOT.
cmake_minimum_required(VERSION 3.25)
set(rows "")
foreach(header IN LISTS HEADERS DEVICE_HEADERS)
  file(READ "${header}" text)
  if(header IN_LIST DEVICE_HEADERS)
    get_filename_component(name "${header}" NAME)
    set(name "baton/device/${name}")
  else()
    file(RELATIVE_PATH name "${ROOT}" "${header}")
  endif()
  string(APPEND rows "    {\"${name}\", R\"~BATON~(${text})~BATON~\"},\n")
endforeach()
# Headers of the host's library that hold nothing for device code, or what the compiler has built in:
# to include one is no error. "NAME HEADER": it includes that other one.
file(STRINGS "${HOST_HEADERS}" lines)
foreach(line IN LISTS lines)
  separate_arguments(words UNIX_COMMAND "${line}")
  list(POP_FRONT words name)
  set(text "")
  if(words)
    set(text "#include <${words}>\\n")
  endif()
  string(APPEND rows "    {\"${name}\", \"${text}\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Written by src/compile/embed.cmake.
#include \"compile/headers.h\"

namespace baton::compiler {

std::span<const EmbeddedHeader> embedded_headers() {
  static constexpr EmbeddedHeader kHeaders[] = {
${rows}  };
  return kHeaders;
}

}  // namespace baton::compiler
")
