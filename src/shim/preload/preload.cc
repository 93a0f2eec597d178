// Looks at the objects of a process when it starts, and after each dlopen.

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shim/preload/imports.h"
#include "shim/preload/own_functions.h"
#include "shim/preload/refused_handles.h"
#include "shim/preload/static_runtime.h"
#include "shim/preload/wrapped_runtime.h"

namespace baton::preload {
namespace {

// What is asked of a program that holds a runtime that cannot be replaced.
constexpr const char* kRelink =
    "; link the CUDA runtime as a library: nvcc -cudart shared (or in the environment of the "
    "build, NVCC_APPEND_FLAGS=\"-cudart shared\"; with CMake, "
    "CMAKE_CUDA_RUNTIME_LIBRARY=Shared)";

using OpenFunction = void* (*)(const char* name, int flags);

OpenFunction system_open() {
  static const auto function = reinterpret_cast<OpenFunction>(dlsym(RTLD_NEXT, "dlopen"));
  return function;
}

// The folder of this library, which has the others.
const std::string& folder() {
  static const auto& path = *[] {
    Dl_info facts = {};
    auto* found = new std::string;
    if (dladdr(reinterpret_cast<void*>(&system_open), &facts) != 0 && facts.dli_fname != nullptr) {
      *found = facts.dli_fname;
      found->resize(found->rfind('/') + 1);
    }
    return found;
  }();
  return path;
}

std::string json_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return quoted + "\"";
}

// Tells `baton exec` what is not checked (shim/process_report.h); without it, standard error.
void tell(const std::string& what) {
  const char* report = std::getenv("BATON_EXEC_REPORT");
  if (report == nullptr || *report == '\0') {
    std::fprintf(stderr, "baton: warning: %s\n", what.c_str());
    return;
  }
  const std::string path = std::string(report) + "/" + std::to_string(getpid()) + ".jsonl";
  const std::string line = "{\"event\":\"image\",\"what\":" + json_text(what) + "}\n";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, line.data(), line.size()) < 0) {
    std::fprintf(stderr, "baton: warning: %s\n", what.c_str());
  }
  close(file);
}

std::string program() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<std::size_t>(size)) : "/proc/self/exe";
}

int collect(dl_phdr_info* info, std::size_t, void* data) {
  auto& objects = *static_cast<std::vector<LoadedObject>*>(data);
  std::string path = info->dlpi_name;
  const bool is_program = path.empty() && objects.empty();
  if (is_program) path = program();
  objects.push_back(
      {std::move(path), info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, is_program});
  return 0;
}

// Objects that were looked at, by name and place.
std::set<std::pair<std::string, std::uintptr_t>>& known_objects() {
  static auto& known = *new std::set<std::pair<std::string, std::uintptr_t>>;
  return known;
}

// `baton record` puts a driver of its own in front of the simulated one.
std::string own_path(const char* library) {
  const char* driver = std::getenv("BATON_EXEC_DRIVER");
  const bool is_led = driver != nullptr && *driver != '\0';
  return is_led && std::strcmp(library, "libcuda.so.1") == 0 ? driver : folder() + library;
}

// A library of this folder, or null, which is told.
void* open_own(const std::string& path) {
  void* const library = system_open()(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) tell(path + " does not load: " + dlerror());
  return library;
}

// Whether the object has a runtime whose functions are led elsewhere now.
bool look_at(const LoadedObject& object, const SymbolTable& symbols) {
  const StaticRuntime found = find_runtime(symbols, object.path);
  switch (found) {
    case StaticRuntime::kNone:
      return false;
    case StaticRuntime::kOld:
      tell(object.path +
           " holds the CUDA runtime of CUDA 12 or earlier, which is not replaced; build it with "
           "CUDA 13");
      return false;
    case StaticRuntime::kNamed:
    case StaticRuntime::kWrapped:
      break;
  }
  void* const runtime = open_own(folder() + "libcudart.so.13");
  if (runtime == nullptr) return false;
  if (found == StaticRuntime::kWrapped) {
    void* const driver = open_own(own_path("libcuda.so.1"));
    if (driver == nullptr) return false;
    if (!take_over_wrapped(symbols, object.base, runtime, driver)) {
      tell("the CUDA runtime in " + object.path + " is replaced in parts only, and may fail");
    }
    return false;  // no kernels are registered with it
  }
  if (!take_over(symbols, object.base, runtime)) {
    tell("the system keeps the code of " + object.path +
         " from being changed, so its CUDA runtime stays" + kRelink);
  }
  return true;
}

// With `again`, the objects that are new have run their constructors.
void look_at_new_objects(bool again) {
  // What is opened here is looked at by the call that goes on.
  static std::recursive_mutex mutex;
  const std::lock_guard lock(mutex);
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(collect, &objects);
  std::erase_if(objects, [](const LoadedObject& object) {
    return object.path.empty() || object.path.starts_with(folder()) ||
           !known_objects().emplace(object.path, object.base).second;
  });
  bool is_led = false;
  for (const LoadedObject& object : objects) {
    const ReadOnlyFile file(object.path.c_str());
    const SymbolTable symbols(file.bytes());
    if (look_at(object, symbols)) is_led = true;
    refuse_handles(symbols, object.base);
    lead_imports(object, symbols);
  }
  if (!is_led || !again) return;
  for (const LoadedObject& object : objects) {
    const ReadOnlyFile file(object.path.c_str());
    register_again(SymbolTable(file.bytes()), object.base);
  }
}

// The first constructor of all: the C library has not set its environment yet.
__attribute__((constructor)) void start(int, char**, char** environment) {
  if (environ == nullptr) environ = environment;
  look_at_new_objects(false);
}

// "libcuda.so.1" for any path to such a file.
const char* own_library(std::string_view name) {
  const std::string_view file = name.substr(name.rfind('/') + 1);
  for (const char* each : {"libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1"}) {
    if (file == each) return each;
  }
  if (file == "libcuda.so") return "libcuda.so.1";
  if (file == "libnvidia-ml.so") return "libnvidia-ml.so.1";
  return nullptr;
}

// Where an object that asks for a plain name searches: its own folders too, which the system would
// otherwise look up for this library. Empty where the name is not found there.
std::string found_for(const char* name, const void* caller) {
  Dl_info facts = {};
  if (dladdr(caller, &facts) == 0 || facts.dli_fname == nullptr) return {};
  void* const object = system_open()(facts.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return {};
  std::string found;
  Dl_serinfo size = {};
  if (dlinfo(object, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<char> memory(size.dls_size);
    auto* const places = reinterpret_cast<Dl_serinfo*>(memory.data());
    if (dlinfo(object, RTLD_DI_SERINFOSIZE, places) == 0 &&
        dlinfo(object, RTLD_DI_SERINFO, places) == 0) {
      for (unsigned k = 0; k < places->dls_cnt && found.empty(); ++k) {
        const std::string path = std::string(places->dls_serpath[k].dls_name) + "/" + name;
        if (access(path.c_str(), R_OK) == 0) found = path;
      }
    }
  }
  dlclose(object);
  return found;
}

void* open_for(const char* name, int flags, const void* caller) {
  void* handle = nullptr;
  const bool is_plain = name != nullptr && *name != '\0' && std::strchr(name, '/') == nullptr;
  if (name != nullptr && own_library(name) != nullptr) {
    handle = system_open()(own_path(own_library(name)).c_str(), flags);
  } else if (is_plain && system_open()(name, flags | RTLD_NOLOAD) == nullptr) {
    const std::string path = found_for(name, caller);
    handle = system_open()(path.empty() ? name : path.c_str(), flags);
  } else {
    handle = system_open()(name, flags);
  }
  if (handle != nullptr && (flags & RTLD_NOLOAD) == 0) look_at_new_objects(true);
  return handle;
}

}  // namespace

void* kept_function(const char* name, void* real, void* (*find)(void*, const char*)) {
  using Hook = void* (*)(const char*, void*, void* (*)(void*, const char*));
  static const Hook hook = [&]() -> Hook {
    const std::string own = folder() + "libbaton_kept.so";
    void* const library = system_open()(own.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      tell(own + " does not load: " + dlerror());
      return nullptr;
    }
    return reinterpret_cast<Hook>(find(library, "baton_kept_hook"));
  }();
  return hook == nullptr ? nullptr : hook(name, real, find);
}

}  // namespace baton::preload

extern "C" __attribute__((visibility("default"))) void* dlopen(const char* name, int flags) {
  return baton::preload::open_for(name, flags, __builtin_return_address(0));
}
