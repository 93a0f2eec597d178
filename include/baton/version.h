#ifndef BATON_VERSION_H_
#define BATON_VERSION_H_

// The version of these headers, for #if. Plain preprocessor text for C and C++; the build reads the
// project's version from it. `baton_version()` (baton.h) is the version of the library.
#define BATON_VERSION_MAJOR 0
#define BATON_VERSION_MINOR 1
#define BATON_VERSION_PATCH 0

#endif
