#pragma once
// malloc, free and abs are built into the compiler.
#include <stddef.h>
#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1
