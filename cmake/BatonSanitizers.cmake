# Sanitizers of every target (BATON_SANITIZE), and what tests need in their environment with them:
# BATON_SANITIZER_ENVIRONMENT for each, BATON_SANITIZER_PRELOAD also where a program that is not
# sanitized loads the library, such as Python. Both are lists of NAME=VALUE, empty without.

set(BATON_SANITIZER_ENVIRONMENT)
set(BATON_SANITIZER_PRELOAD)
if(BATON_SANITIZE)
  # The only enumerations of C here are CUDA's, and newer drivers and callers of the simulated one
  # put numbers into them that its header does not name: -fno-sanitize=enum. GCC warns of variants
  # that are moved where a sanitizer keeps it from seeing which alternative they hold.
  target_compile_options(baton_flags INTERFACE -fsanitize=${BATON_SANITIZE} -fno-sanitize=enum
    -fno-omit-frame-pointer -fno-sanitize-recover=all
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(baton_flags INTERFACE -fsanitize=${BATON_SANITIZE})

  # nvJitLink keeps memory after a link that failed.
  set(BATON_SANITIZER_ENVIRONMENT
    "LSAN_OPTIONS=print_suppressions=0:suppressions=${CMAKE_CURRENT_LIST_DIR}/leaks_of_others.txt")
  if(BATON_SANITIZE MATCHES "address")
    set(library libasan.so)
  elseif(BATON_SANITIZE MATCHES "thread")
    set(library libtsan.so)
  else()
    set(library)
  endif()
  if(library)
    # The sanitizer looks for what it intercepts when it is loaded, and Python has no C++ runtime before that:
    # without one, the first exception ends the process.
    set(preloaded)
    foreach(name "${library}" libstdc++.so)
      execute_process(COMMAND "${CMAKE_CXX_COMPILER}" "-print-file-name=${name}"
        OUTPUT_VARIABLE file OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      # A compiler that has no such file gives the name back.
      if(IS_ABSOLUTE "${file}")
        list(APPEND preloaded "${file}")
      endif()
    endforeach()
    list(JOIN preloaded ":" preloaded)
    # Python keeps memory to its end.
    set(BATON_SANITIZER_PRELOAD "LD_PRELOAD=${preloaded}" "ASAN_OPTIONS=detect_leaks=0")
  endif()
endif()
