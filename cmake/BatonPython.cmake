# BATON_PYTHON: a Python 3.11 that has NumPy, for tests and references. The one on the path may be
# another than Debian's, so several are tried.
if(NOT BATON_PYTHON)
  foreach(candidate python3 /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import numpy, sys, tomllib; print(sys.executable)"
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(failed EQUAL 0)
      set(BATON_PYTHON "${found}" CACHE FILEPATH "A Python 3.11 with NumPy, for the tests")
      break()
    endif()
  endforeach()
endif()
if(NOT BATON_PYTHON)
  message(FATAL_ERROR "no Python 3.11 with NumPy was found, which the tests need: install python3-numpy (scripts/setup does), or set BATON_PYTHON")
endif()

# baton_python_test(NAME script.py [arguments ...]): a test that is a Python script. It finds the
# command line under test in the variable BATON.
function(baton_python_test name script)
  add_test(NAME ${name} COMMAND "${BATON_PYTHON}" -B "${CMAKE_CURRENT_SOURCE_DIR}/${script}" ${ARGN})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600)
  if(TARGET baton_tool)
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "BATON=$<TARGET_FILE:baton_tool>")
  endif()
endfunction()
