#pragma once

namespace baton::preload {

// The function that keeps PTX in the place of `real` (shim/kept/hooks.h), or null. `find` is the
// system's dlsym.
void* kept_function(const char* name, void* real, void* (*find)(void* library, const char* name));

// The same for the function that the library, or what it is linked with, has under this name.
void* find_own(void* library, const char* name);

}  // namespace baton::preload
