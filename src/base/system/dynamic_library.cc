#include "base/system/dynamic_library.h"

#include <dlfcn.h>
#include <link.h>

namespace baton {

std::optional<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> names,
                                                   std::string* why) {
  std::string reasons;
  for (const std::string& name : names) {
    // Local: two versions of NVRTC, say, may be loaded without their symbols meeting.
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return DynamicLibrary(handle, name);
    }
    const char* reason = dlerror();
    if (!reasons.empty()) reasons += "; ";
    reasons += reason != nullptr ? reason : name + ": cannot be loaded";
  }
  if (why != nullptr) *why = std::move(reasons);
  return std::nullopt;
}

std::optional<DynamicLibrary> DynamicLibrary::loaded(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (handle == nullptr) return std::nullopt;
  return DynamicLibrary(handle, name);
}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)),
      name_(std::move(other.name_)),
      leaked_(other.leaked_) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  if (this != &other) {
    close();
    handle_ = std::exchange(other.handle_, nullptr);
    name_ = std::move(other.name_);
    leaked_ = other.leaked_;
  }
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  close();
}

void* DynamicLibrary::symbol(const char* name) const {
  // A null handle would make dlsym search the whole process.
  return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

std::string DynamicLibrary::path() const {
  link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr)
    return {};
  return map->l_name != nullptr ? map->l_name : "";
}

void DynamicLibrary::close() noexcept {
  if (handle_ != nullptr && !leaked_) dlclose(handle_);
  handle_ = nullptr;
}

}  // namespace baton
