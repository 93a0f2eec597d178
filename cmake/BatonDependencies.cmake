# What Baton takes from elsewhere: Debian packages, and CUDA's headers from a toolkit or from the
# wheels that scripts/setup unpacks into .deps/cuda. Nothing of CUDA is linked: the driver, NVRTC
# and nvJitLink are loaded at run time.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
# Functions that choose the vector instructions of the processor: Debian's shared library has them,
# its archive has not.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES PkgConfig::XXHASH)
check_cxx_source_compiles("#include <xxh_x86dispatch.h>
int main() { return XXH3_64bits_dispatch(\"\", 0) == 0; }" BATON_XXHASH_DISPATCH)
unset(CMAKE_REQUIRED_LIBRARIES)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)

set(BATON_FMT fmt::fmt)
if(BATON_FMT_HEADER_ONLY)
  set(BATON_FMT fmt::fmt-header-only)
endif()

# Of libcrypto, SHA-256 alone is linked; signatures load the shared library (base/ed25519.h). Its
# archive comes with its headers and gives that in 25 KB; the
# shared library is relocated in tens of thousands of places whenever a process starts, which takes
# longer than what the compile cache does for a hit. -DBATON_CRYPTO_ARCHIVE=OFF takes the shared one.
find_library(BATON_CRYPTO_ARCHIVE libcrypto.a HINTS ${CRYPTO_LIBRARY_DIRS}
  DOC "libcrypto as an archive; OFF: the shared library")
add_library(baton_crypto INTERFACE)
if(BATON_CRYPTO_ARCHIVE)
  target_include_directories(baton_crypto SYSTEM INTERFACE ${CRYPTO_INCLUDE_DIRS})
  target_link_libraries(baton_crypto INTERFACE "${BATON_CRYPTO_ARCHIVE}")
else()
  target_link_libraries(baton_crypto INTERFACE PkgConfig::CRYPTO)
endif()

# A folder found by an earlier run may be gone.
if(BATON_CUDA_INCLUDE_DIR AND NOT EXISTS "${BATON_CUDA_INCLUDE_DIR}/cudaTypedefs.h")
  unset(BATON_CUDA_INCLUDE_DIR CACHE)
endif()
find_path(BATON_CUDA_INCLUDE_DIR cudaTypedefs.h
  HINTS "${PROJECT_SOURCE_DIR}/.deps/cuda/include" ENV CUDA_HOME ENV CUDA_PATH
  PATHS /usr/local/cuda /opt/cuda
  PATH_SUFFIXES include targets/x86_64-linux/include
  DOC "The folder that holds cuda.h and cudaTypedefs.h")
if(NOT BATON_CUDA_INCLUDE_DIR)
  message(FATAL_ERROR "cuda.h was not found: install a CUDA toolkit, or run scripts/setup, which unpacks the headers from NVIDIA's Python wheels; or set BATON_CUDA_INCLUDE_DIR")
endif()
file(STRINGS "${BATON_CUDA_INCLUDE_DIR}/cuda.h" baton_cuda_version REGEX "^#define CUDA_VERSION [0-9]+")
string(REGEX REPLACE "[^0-9]" "" baton_cuda_version "${baton_cuda_version}")
if(NOT baton_cuda_version GREATER_EQUAL 13000)
  message(FATAL_ERROR "the headers in ${BATON_CUDA_INCLUDE_DIR} are of CUDA version \"${baton_cuda_version}\", and 13000 (13.0) or later is needed: set BATON_CUDA_INCLUDE_DIR to such, or run BATON_SETUP_IGNORE_TOOLKIT=1 scripts/setup, which unpacks them into .deps/cuda")
endif()
add_library(baton_cuda_headers INTERFACE)
target_include_directories(baton_cuda_headers SYSTEM INTERFACE "${BATON_CUDA_INCLUDE_DIR}")

if(BATON_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(BATON_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

# One interface target carries the flags that every target of ours is built with.
add_library(baton_flags INTERFACE)
target_compile_options(baton_flags INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
# A target can have a level of its own (baton_room). This follows CMake's, and so replaces it.
target_compile_options(baton_flags INTERFACE
  $<$<CONFIG:Release>:$<TARGET_PROPERTY:BATON_OPTIMISATION>>)
if(BATON_WARNINGS_AS_ERRORS)
  target_compile_options(baton_flags INTERFACE -Werror)
endif()
