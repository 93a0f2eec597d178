#pragma once

#include "baton/version.h"

#define BATON_TAG_PART(token) #token
#define BATON_ABI_TAG(major, minor) "v" BATON_TAG_PART(major) "_" BATON_TAG_PART(minor)

// Marks what a shared libbaton exports; everything else is hidden. The symbols have the version in
// their names, because the C++ interface may change with each minor version: programs that mix the
// headers of one version and the library of another do not link. baton/forward.h declares the
// classes.
#define BATON_API                       \
  __attribute__((visibility("default"), \
                 abi_tag(BATON_ABI_TAG(BATON_VERSION_MAJOR, BATON_VERSION_MINOR))))

#if defined(BATON_C_INTERFACE_ONLY)
#error \
    "this build of Baton has its own C++ runtime inside, and so the C interface alone: include <baton.h>, or build Baton from source for the C++ interface"
#endif
