#include <mutex>

#include "tvm_ffi/bundle_module.h"
#include "tvm_ffi/failure.h"
#include "tvm_ffi/module_object.h"
#include "tvm_ffi/runtime.h"

// The loaders of the adapter, by which tvm-ffi finds it.

namespace baton::tvm_ffi {
namespace {

// (path, format) -> Module
int load_from_file(void*, const Any* args, std::int32_t count, Any* result) {
  return guarded([&] {
    const auto path = count > 0 ? text_of(args[0]) : std::nullopt;
    if (!path) fail("TypeError", "the loader of bundles takes a path and a format");
    Any module{};
    module.type = kModule;
    module.object = make_module(BundleModule::open(std::string(*path))).release();
    *result = module;
  });
}

// (bytes) -> Module
int load_from_bytes(void*, const Any* args, std::int32_t count, Any* result) {
  return guarded([&] {
    const auto bytes = count == 1 ? bytes_of(args[0]) : std::nullopt;
    if (!bytes) fail("TypeError", "the loader of bundles takes bytes");
    Any module{};
    module.type = kModule;
    module.object = make_module(BundleModule::from_bytes(*bytes)).release();
    *result = module;
  });
}

bool set_global(std::string_view name, SafeCall call) {
  Object* function = nullptr;
  if (runtime().FunctionCreate(nullptr, call, nullptr, &function) != 0) return false;
  const ObjectRef reference(function);
  const ByteArray bytes = byte_array(name);
  return runtime().FunctionSetGlobal(&bytes, function, 1) == 0;
}

// Returns the reason for a failure, or an empty text.
std::string register_loaders() {
  std::string why;
  if (find_runtime(why) == nullptr) return why;
  if (set_global("ffi.Module.load_from_file.baton", load_from_file) &&
      set_global("ffi.Module.load_from_bytes.baton", load_from_bytes)) {
    return {};
  }
  return "libtvm_ffi refused to register the loaders of bundles";
}

}  // namespace
}  // namespace baton::tvm_ffi

extern "C" __attribute__((visibility("default"))) const char* baton_tvm_ffi_register() {
  static std::mutex mutex;
  static bool is_done = false;
  static std::string why;
  const std::lock_guard lock(mutex);
  if (is_done) return nullptr;
  why = baton::tvm_ffi::register_loaders();
  is_done = why.empty();
  return is_done ? nullptr : why.c_str();
}

// Where tvm-ffi is loaded already, to load the adapter is enough.
__attribute__((constructor)) static void register_at_load() {
  baton_tvm_ffi_register();
}
