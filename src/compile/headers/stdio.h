#pragma once
// printf is built into the compiler.
#include <stddef.h>
