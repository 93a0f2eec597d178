// dlsym, through which programs find the functions of NVRTC and nvJitLink. This file is compiled so
// that the call of the system's function takes the place of this one: that looks at its caller for
// RTLD_NEXT.

#include <dlfcn.h>

#include <cstring>

#include "shim/preload/own_functions.h"

namespace baton::preload {
namespace {

using FindFunction = void* (*)(void* library, const char* name);

FindFunction system_find() {
#if defined(__aarch64__)
  constexpr const char* kVersions[] = {"GLIBC_2.34", "GLIBC_2.17"};
#else
  constexpr const char* kVersions[] = {"GLIBC_2.34", "GLIBC_2.2.5"};
#endif
  static const FindFunction function = [&] {
    void* found = nullptr;
    for (const char* version : kVersions) {
      if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
    }
    return reinterpret_cast<FindFunction>(found);
  }();
  return function;
}

bool hands_over_code(const char* name) {
  return std::strncmp(name, "nvrtcGetCUBIN", 13) == 0 || std::strncmp(name, "nvJitLink", 9) == 0 ||
         std::strncmp(name, "__nvJitLink", 11) == 0;
}

}  // namespace

void* find_own(void* library, const char* name) {
  if (name == nullptr || !hands_over_code(name)) return nullptr;
  void* const real = system_find()(library, name);
  return real == nullptr ? nullptr : kept_function(name, real, system_find());
}

FindFunction find_function() {
  return system_find();
}

}  // namespace baton::preload

extern "C" __attribute__((visibility("default"))) void* dlsym(void* library, const char* name) {
  if (void* own = baton::preload::find_own(library, name)) return own;
  return baton::preload::find_function()(library, name);
}
