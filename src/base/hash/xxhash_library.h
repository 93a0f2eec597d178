#pragma once

#include <xxhash.h>

// Under the same names, functions that choose the vector instructions of the processor.
#ifdef BATON_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#endif
