#pragma once
// memcpy and memset are built into the compiler.
#include <stddef.h>
