#pragma once

// Marks what a shared libbaton exports; everything else is hidden.
#define BATON_API __attribute__((visibility("default")))

#if defined(BATON_C_INTERFACE_ONLY)
#error "this build of Baton has its own C++ runtime inside, and so the C interface alone: include <baton.h>, or build Baton from source for the C++ interface"
#endif
