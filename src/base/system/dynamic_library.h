#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

namespace baton {

// A shared library loaded at run time. Movable; closed when destroyed unless `leak` was called.
// The handle is immutable after `open`: symbols may be looked up from many threads. One that was
// moved from holds nothing: it finds no symbol and has no path.
class DynamicLibrary {
 public:
  // Opens the first of `names` that loads. On failure returns nothing and sets `*why` (where
  // given) to what the loader said of each.
  static std::optional<DynamicLibrary> open(std::span<const std::string> names,
                                            std::string* why = nullptr);

  // The library of that soname, if some part of this process has loaded it.
  static std::optional<DynamicLibrary> loaded(const std::string& name);

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  ~DynamicLibrary();

  // The symbol's address, or null.
  void* symbol(const char* name) const;
  // The name under which it was opened.
  const std::string& name() const { return name_; }
  // The file it was loaded from, as the loader resolved it; empty where that is unknown.
  std::string path() const;
  // Keeps the library loaded for the life of the process; its symbols stay within reach.
  void leak() { leaked_ = true; }

 private:
  DynamicLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}

  void close() noexcept;

  void* handle_;
  std::string name_;
  bool leaked_ = false;
};

}  // namespace baton
