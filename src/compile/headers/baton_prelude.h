#pragma once
// What nvcc brings in by itself and NVRTC does not.
#include <cstddef>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <baton_gnu.h>
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
