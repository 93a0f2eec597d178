# baton_room(NAME [HOT|COLD] SOURCES a.cc ... [TESTS a_test.cc ...] [DEPENDS room ...] [LIBRARIES target ...])
#
# Declares one room of src/: an object library baton_NAME, and, with tests on, one executable
# baton_NAME_test whose cases ctest runs one by one. A room sees the public headers, src/ and the
# rooms it depends on; tests/layers_test.py holds the direction of every #include.
#
# Release builds compile a room with -O2: -O3 takes up to a third longer. HOT takes -O3, for rooms
# that each launch goes through. COLD takes -O1, for rooms whose time is not noticed in a run.
function(baton_room name)
  cmake_parse_arguments(ROOM "HOT;COLD" "" "SOURCES;TESTS;DEPENDS;LIBRARIES;TEST_LIBRARIES" ${ARGN})
  add_library(baton_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(baton_${name} PUBLIC
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
  target_link_libraries(baton_${name} PUBLIC baton_flags Threads::Threads ${ROOM_LIBRARIES})
  set(level -O2)
  if(ROOM_HOT)
    set(level -O3)
  endif()
  set_target_properties(baton_${name} PROPERTIES BATON_OPTIMISATION ${level})
  if(ROOM_COLD)
    baton_cold(baton_${name})
  endif()
  baton_batches(baton_${name} 32)
  # Object libraries do not pass their objects on: a room links its dependencies' usage
  # requirements, and whatever is finally linked names every room it needs.
  set(closure ${name})
  foreach(dependency IN LISTS ROOM_DEPENDS)
    target_link_libraries(baton_${name} PUBLIC baton_${dependency})
    get_target_property(below baton_${dependency} BATON_CLOSURE)
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  set_target_properties(baton_${name} PROPERTIES BATON_CLOSURE "${closure}")

  if(BATON_BUILD_TESTS AND ROOM_TESTS)
    add_executable(baton_${name}_test ${ROOM_TESTS})
    baton_link_rooms(baton_${name}_test ${name})
    target_link_libraries(baton_${name}_test PRIVATE GTest::gtest GTest::gmock GTest::gtest_main
      ${ROOM_TEST_LIBRARIES})
    target_compile_definitions(baton_${name}_test PRIVATE
      BATON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    baton_discover_tests(baton_${name}_test ${name})
  endif()
endfunction()

# TARGET has no code whose time is noticed in a run: it is compiled quickly, and for a wheel to be small.
function(baton_cold target)
  set(level -O1)
  if(BATON_WHEEL)
    set(level -Os)
  endif()
  set_target_properties(${target} PROPERTIES BATON_OPTIMISATION ${level})
endfunction()

# Compiles the sources of TARGET in batches of up to SIZE (BATON_UNITY): names in unnamed namespaces
# must then be unique within a room. Sources with flags of their own are compiled alone.
function(baton_batches target size)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${BATON_UNITY} UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# TARGET is of tests, whose compilation takes longer than their runs: -O0, a third quicker than -O1, and
# in batches. A test file has a namespace of its name, so that its names need not be unique.
function(baton_tests target)
  set_target_properties(${target} PROPERTIES BATON_OPTIMISATION -O0)
  baton_batches(${target} 8)
endfunction()

# Registers every case of a GoogleTest executable with ctest as ROOM/Suite.Case, and compiles it as
# tests are.
function(baton_discover_tests target prefix)
  baton_tests(${target})
  include(GoogleTest)
  set(environment)
  if(BATON_SANITIZER_ENVIRONMENT)
    set(environment ENVIRONMENT "${BATON_SANITIZER_ENVIRONMENT}")
  endif()
  gtest_discover_tests(${target} TEST_PREFIX "${prefix}/" DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 300 ${environment} ${ARGN})
endfunction()

# Links the objects of the named rooms, and of every room below them, into TARGET.
function(baton_link_rooms target)
  set(closure)
  foreach(room IN LISTS ARGN)
    get_target_property(below baton_${room} BATON_CLOSURE)
    list(APPEND closure ${below})
  endforeach()
  list(REMOVE_DUPLICATES closure)
  foreach(room IN LISTS closure)
    target_link_libraries(${target} PRIVATE baton_${room})
  endforeach()
endfunction()

# baton_program_test(ROOM a_test.cc ...): tests that run whole programs, on the simulated GPU always
# and on the first CUDA GPU under the label `gpu`. They link the whole library.
function(baton_program_test room)
  add_executable(baton_${room}_test ${ARGN} "${PROJECT_SOURCE_DIR}/tests/device_is_here.cc")
  target_link_libraries(baton_${room}_test PRIVATE
    baton_all GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(baton_${room}_test PRIVATE BATON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  baton_tests(baton_${room}_test)
  include(GoogleTest)
  foreach(device sim cuda)
    set(label "")
    if(device STREQUAL "cuda")
      set(label LABELS gpu)
    endif()
    gtest_discover_tests(baton_${room}_test
      TEST_PREFIX "${room}/${device}/" TEST_LIST ${room}_${device} DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT 300 ${label} ENVIRONMENT "BATON_TEST_DEVICE=${device}")
  endforeach()
endfunction()
