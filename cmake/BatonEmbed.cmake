# Images in a program's read-only data. Part of Baton's installed package; needs no Python, and no
# languages but C++.
#
#   baton_embed_images(<target> [NAMESPACE <a::b>] [HEADER <file>]
#                      NAME <name> FILE <path> [NAME <name> FILE <path> ...])
#
# Puts each file (PTX, cubin, fatbin) into the target, and generates a header (a::b gives
# "a_b.baton.h") that the target, and what links it, includes. It declares for each name
#
#   const baton::Image& a::b::<name>();
#
# The namespace is the target's name where none is given. The target is an executable or a library
# of the current folder that links baton::baton; a relative path starts from the current source
# folder or, where the file is not there, from the current build folder, so that a custom command of
# this folder may make the file. When a file changes, the target is built anew. Two targets may use
# the same names, also where both end in one program.
#
#   baton_compile_image(<output> SOURCE <file.cu> [ARCH <sm_90a> ...] [ENTRY <name> ...]
#                       [REWRITE <wait|loads|exit|top>] [OPTIONS <option> ...] [DEPENDS <file> ...])
#
# Adds the command that makes <output> (in the current build folder; PTX where it ends in .ptx, else
# a cubin) with `baton compile` when the source changes, or a file that it includes, or one of
# DEPENDS. Several architectures make a file each, with the architecture before the ending:
# k.cubin becomes k.sm_90a.cubin and k.sm_100a.cubin. Without ARCH the image is for the machine's
# default device. ENTRY names instances of templates ("norm<float>"), REWRITE adds PDL to the
# kernels. OPTIONS are NVRTC's.

function(_baton_embed_fail)
  list(JOIN ARGN "" text)
  message(FATAL_ERROR "${text}")
endfunction()

function(baton_embed_images target)
  if(NOT TARGET ${target})
    _baton_embed_fail("baton_embed_images: there is no target \"${target}\"")
  endif()
  get_target_property(folder ${target} SOURCE_DIR)
  if(NOT folder STREQUAL CMAKE_CURRENT_SOURCE_DIR)
    _baton_embed_fail("baton_embed_images: call it in the folder that makes the target \"${target}\": "
      "${folder}")
  endif()

  # NAME and FILE come in pairs, so they are read by hand.
  string(MAKE_C_IDENTIFIER "${target}" namespace)
  set(header)
  set(names)
  set(files)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest key value)
    if("${value}" STREQUAL "")
      _baton_embed_fail("baton_embed_images(${target}): ${key} has no value")
    elseif(key STREQUAL "NAMESPACE")
      set(namespace "${value}")
    elseif(key STREQUAL "HEADER")
      set(header "${value}")
    elseif(key STREQUAL "NAME")
      if(NOT value MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        _baton_embed_fail("baton_embed_images(${target}): the name \"${value}\" is no C++ identifier")
      elseif(value IN_LIST names)
        _baton_embed_fail("baton_embed_images(${target}): the name \"${value}\" is given twice")
      endif()
      list(POP_FRONT rest file_key file)
      if(NOT "${file_key}" STREQUAL "FILE" OR "${file}" STREQUAL "")
        _baton_embed_fail("baton_embed_images(${target}): FILE <path> must follow NAME ${value}, "
          "not \"${file_key} ${file}\"")
      endif()
      list(APPEND names "${value}")
      list(APPEND files "${file}")
    else()
      _baton_embed_fail("baton_embed_images(${target}): unknown key \"${key}\" (known: NAMESPACE, "
        "HEADER, NAME, FILE)")
    endif()
  endwhile()
  if(NOT names)
    _baton_embed_fail("baton_embed_images(${target}): no image is given (NAME <name> FILE <path>)")
  elseif(NOT namespace MATCHES "^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$")
    _baton_embed_fail("baton_embed_images(${target}): \"${namespace}\" is no C++ namespace")
  endif()
  string(REPLACE "::" "_" stem "${namespace}")
  if(NOT header)
    set(header "${stem}.baton.h")
  endif()

  # An inline namespace of the target's own keeps equal names of two targets apart. It hashes names,
  # not folders, so that builds are the same wherever they are made.
  file(RELATIVE_PATH place "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(MD5 hash "${PROJECT_NAME}|${place}|${target}|${namespace}")
  string(SUBSTRING "${hash}" 0 12 hash)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/baton_embed/${target}")
  set(copies)
  set(declarations)
  set(definitions)
  foreach(name file IN ZIP_LISTS names files)
    get_filename_component(path "${file}" ABSOLUTE)
    if(NOT EXISTS "${path}" AND NOT IS_ABSOLUTE "${file}")
      get_filename_component(made "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
      get_source_file_property(is_made "${made}" GENERATED)
      if(NOT is_made AND NOT EXISTS "${made}")
        _baton_embed_fail("baton_embed_images(${target}): \"${file}\" is neither in "
          "${CMAKE_CURRENT_SOURCE_DIR} nor made in ${CMAKE_CURRENT_BINARY_DIR} by a command before "
          "this call")
      endif()
      set(path "${made}")
    endif()
    # The copy has a name without surprises for the assembler, and depends on whatever makes the
    # file.
    set(copy "${output}/${stem}.${name}.image")
    add_custom_command(OUTPUT "${copy}"
      COMMAND "${CMAKE_COMMAND}" -E copy "${path}" "${copy}"
      DEPENDS "${path}" VERBATIM)
    list(APPEND copies "${copy}")
    string(APPEND declarations "const baton::Image& ${name}();\n")
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" quoted "${copy}")
    string(REGEX REPLACE "([\\\"])" "\\\\\\1" quoted "${quoted}")
    string(APPEND definitions "BATON_EMBED_IMAGE(${name}, \"${quoted}\")\n")
  endforeach()

  set(open "namespace ${namespace} {\ninline namespace baton_${hash} {\n\n")
  set(close "\n}  // namespace baton_${hash}\n}  // namespace ${namespace}\n")
  set(made "// Made by baton_embed_images(${target}).\n")
  set(check "#if !__has_include(<baton/embed.h>)\n#error \"link ${target} to baton::baton\"\n#endif\n")
  file(CONFIGURE OUTPUT "${output}/${header}" @ONLY CONTENT
    "${made}#pragma once\n\n${check}#include <baton/image.h>\n\n${open}${declarations}${close}")
  set(source "${output}/${stem}.baton.cc")
  file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
    "${made}#include \"${header}\"\n\n#include <baton/embed.h>\n\n${open}${definitions}${close}")

  set_source_files_properties("${source}" PROPERTIES
    OBJECT_DEPENDS "${copies}"
    COMPILE_OPTIONS -fno-lto
    SKIP_PRECOMPILE_HEADERS ON
    SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE "${source}")
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${output}>")
endfunction()

function(baton_compile_image output)
  cmake_parse_arguments(PARSE_ARGV 1 IMAGE "" "SOURCE;REWRITE" "ARCH;ENTRY;OPTIONS;DEPENDS")
  if(NOT IMAGE_SOURCE)
    _baton_embed_fail("baton_compile_image(${output}): SOURCE <file.cu> is missing")
  elseif(IMAGE_UNPARSED_ARGUMENTS)
    _baton_embed_fail("baton_compile_image(${output}): unknown: ${IMAGE_UNPARSED_ARGUMENTS} (known: "
      "SOURCE, ARCH, ENTRY, REWRITE, OPTIONS, DEPENDS)")
  endif()
  # In Baton's own build the tool is a target, elsewhere it is installed beside the library.
  if(TARGET baton_tool)
    set(tool "$<TARGET_FILE:baton_tool>")
    set(tool_dependency baton_tool)
  elseif(BATON_EXECUTABLE)
    set(tool "${BATON_EXECUTABLE}")
    set(tool_dependency)
  else()
    _baton_embed_fail("baton_compile_image(${output}): the tool `baton` was not found beside the "
      "library: install it, or set BATON_EXECUTABLE to it")
  endif()
  get_filename_component(path "${output}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
  get_filename_component(source "${IMAGE_SOURCE}" ABSOLUTE)
  set(common)
  foreach(entry IN LISTS IMAGE_ENTRY)
    list(APPEND common --entry "${entry}")
  endforeach()
  if(IMAGE_REWRITE)
    list(APPEND common --rewrite "${IMAGE_REWRITE}")
  endif()
  if(IMAGE_OPTIONS)
    list(APPEND common -- ${IMAGE_OPTIONS})
  endif()
  list(LENGTH IMAGE_ARCH count)
  if(count EQUAL 0)
    set(IMAGE_ARCH default)
  endif()
  foreach(arch IN LISTS IMAGE_ARCH)
    set(target "${path}")
    if(count GREATER 1)
      cmake_path(GET path EXTENSION LAST_ONLY ending)
      cmake_path(REPLACE_EXTENSION target LAST_ONLY "${arch}${ending}")
    endif()
    cmake_path(GET target PARENT_PATH folder)
    file(MAKE_DIRECTORY "${folder}")
    set(words compile "${source}" -o "${target}" --depfile "${target}.d" --quiet)
    if(NOT count EQUAL 0)
      list(APPEND words --arch "${arch}")
    endif()
    add_custom_command(OUTPUT "${target}"
      COMMAND "${tool}" ${words} ${common}
      DEPENDS "${source}" ${IMAGE_DEPENDS} ${tool_dependency}
      DEPFILE "${target}.d"
      WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
      COMMENT "Compile ${IMAGE_SOURCE} to ${target}"
      VERBATIM)
  endforeach()
endfunction()
