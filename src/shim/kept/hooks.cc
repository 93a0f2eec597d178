#include "shim/kept/hooks.h"

#include <dlfcn.h>

#include <cctype>
#include <string>

#include "base/error.h"
#include "image/cubin/kept_ptx.h"

namespace {

// "nvJitLinkCreate" of "__nvJitLinkCreate_13_0".
std::string plain_name(std::string name) {
  if (!name.starts_with("__")) return name;
  name.erase(0, 2);
  const std::size_t cut = name.find('_');
  return cut == std::string::npos ? name : name.substr(0, cut);
}

}  // namespace

void* baton_kept_hook(const char* name, void* real, BatonFindFunction find) {
  Dl_info facts = {};
  if (dladdr(real, &facts) == 0 || facts.dli_fname == nullptr) return nullptr;
  void* const library = dlopen(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const std::string plain = plain_name(name);
  void* const hook = baton::kept::nvrtc_hook(plain.c_str(), library, find);
  return hook != nullptr ? hook : baton::kept::link_hook(plain.c_str(), library, find);
}

std::size_t baton_keep_ptx(const char* cubin, std::size_t cubin_bytes, const char* ptx,
                           std::size_t ptx_bytes, char* made, std::size_t room) {
  try {
    const std::string kept =
        baton::image::keep_ptx({cubin, cubin_bytes}, {ptx, ptx_bytes}, "<cubin>");
    return kept.size() <= room ? kept.copy(made, kept.size()) : 0;
  } catch (const baton::Error&) {
    return 0;
  }
}
