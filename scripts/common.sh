# Sourced by the scripts beside it: where things are, and how they speak.
# shellcheck shell=bash
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '== %s\n' "$*"; }
die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Builds the named targets (all of them where none is named) of a CMake preset.
build_preset() {
  local preset=$1
  shift
  # A build folder remembers the levels of its last build.
  local options=(-DBATON_SIM_LEVELS="${BATON_SIM_LEVELS:-all}")
  if command -v ccache >/dev/null; then
    # A clone in another folder then finds what this one compiled.
    export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
    options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_C_COMPILER_LAUNCHER=ccache)
  fi
  mkdir -p "build/$preset" && [ -w build ] && [ -w "build/$preset" ] ||
    die "cannot write into $PWD/build; make it yours, or clone Baton to where you may write"
  say "configure $preset"
  cmake --preset "$preset" "${options[@]}" >"build/$preset.configure.log" 2>&1 || {
    cat "build/$preset.configure.log" >&2
    die "CMake could not configure build/$preset (its output is above)"
  }
  say "build $preset"
  cmake --build "build/$preset" --parallel "$(nproc)" ${1:+--target "$@"} ||
    die "build/$preset could not be built (the compiler's messages are above)"
}

# A Python that has NumPy: the one on the path may be another than Debian's.
find_numpy() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy, tomllib' 2>/dev/null; then
      printf '%s\n' "$python"
      return
    fi
  done
  die "no Python 3.11 with NumPy was found; install python3-numpy"
}
