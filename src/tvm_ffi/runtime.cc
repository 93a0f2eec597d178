#include "tvm_ffi/runtime.h"

#include <dlfcn.h>

#include <mutex>
#include <optional>

namespace baton::tvm_ffi {
namespace {

// Found by `find_runtime`, and never changed after that.
Runtime found;
bool is_found = false;

// What dlsym takes for the tvm-ffi of the process: the names that the whole process sees, or a
// library of that name. Nothing if there is neither.
std::optional<void*> loaded_library() {
  if (dlsym(RTLD_DEFAULT, "TVMFFIFunctionCreate") != nullptr) return RTLD_DEFAULT;
  if (void* const library = dlopen("libtvm_ffi.so", RTLD_NOW | RTLD_NOLOAD)) return library;
  return std::nullopt;
}

// Fills a member with the function of that name.
template <typename T>
bool find(void* library, const char* name, T& member, std::string& why) {
  member = reinterpret_cast<T>(dlsym(library, name));
  if (member != nullptr) return true;
  why = fmt::format(
      "the libtvm_ffi that is loaded has no {}; Baton needs one of apache-tvm-ffi 0.1", name);
  return false;
}

bool fill(void* library, Runtime& runtime, std::string& why) {
  const bool complete =
      find(library, "TVMFFIGetVersion", runtime.GetVersion, why) &&
      find(library, "TVMFFIFunctionCreate", runtime.FunctionCreate, why) &&
      find(library, "TVMFFIFunctionSetGlobal", runtime.FunctionSetGlobal, why) &&
      find(library, "TVMFFIFunctionGetGlobal", runtime.FunctionGetGlobal, why) &&
      find(library, "TVMFFIFunctionCall", runtime.FunctionCall, why) &&
      find(library, "TVMFFIErrorCreate", runtime.ErrorCreate, why) &&
      find(library, "TVMFFIErrorSetRaised", runtime.ErrorSetRaised, why) &&
      find(library, "TVMFFIStringFromByteArray", runtime.StringFromByteArray, why) &&
      find(library, "TVMFFIBytesFromByteArray", runtime.BytesFromByteArray, why) &&
      find(library, "TVMFFIEnvGetStream", runtime.EnvGetStream, why) &&
      find(library, "TVMFFIObjectDecRef", runtime.ObjectDecRef, why) &&
      find(library, "TVMFFIObjectIncRef", runtime.ObjectIncRef, why) &&
      find(library, "_ZTVN3tvm3ffi9ModuleObjE", runtime.module_vtable, why);
  if (!complete) return false;
  RuntimeVersion version{};
  runtime.GetVersion(&version);
  if (version.major == 0 && version.minor == 1) return true;
  why = fmt::format("the libtvm_ffi that is loaded is of version {}.{}.{}; Baton knows 0.1",
                    version.major, version.minor, version.patch);
  return false;
}

}  // namespace

const Runtime* find_runtime(std::string& why) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (is_found) return &found;
  const std::optional<void*> library = loaded_library();
  if (!library) {
    why = "the process has not loaded libtvm_ffi.so; import tvm_ffi, or link it, before";
    return nullptr;
  }
  Runtime candidate{};
  if (!fill(*library, candidate, why)) return nullptr;
  found = candidate;
  is_found = true;
  return &found;
}

const Runtime& runtime() {
  return found;
}

ByteArray byte_array(std::string_view text) {
  return {text.data(), text.size()};
}

int raise(const Failure& failure) noexcept {
  // A line of a traceback of Python, which shows the place in the program file.
  std::string place;
  try {
    if (!failure.file.empty() && failure.line > 0) {
      place = fmt::format("  File \"{}\", line {}, in [[steps]]\n", failure.file, failure.line);
    }
  } catch (const std::exception&) {
    // Without memory the message goes alone.
  }
  const ByteArray kind = byte_array(failure.kind), message = byte_array(failure.message),
                  backtrace = byte_array(place);
  Object* error = nullptr;
  if (runtime().ErrorCreate(&kind, &message, &backtrace, &error) == 0) {
    runtime().ErrorSetRaised(error);
    runtime().ObjectDecRef(error);
  }
  return -1;
}

ObjectRef call_global(std::string_view name) {
  const ByteArray bytes = byte_array(name);
  Object* function = nullptr;
  if (runtime().FunctionGetGlobal(&bytes, &function) != 0 || function == nullptr) {
    fail("RuntimeError", "libtvm_ffi has no global function {}, which Baton needs", name);
  }
  const ObjectRef reference(function);
  Any result{};
  if (runtime().FunctionCall(function, nullptr, 0, &result) != 0 || result.type < kFirstObject) {
    fail("RuntimeError", "the global function {} of libtvm_ffi makes no object", name);
  }
  return ObjectRef(result.object);
}

}  // namespace baton::tvm_ffi
