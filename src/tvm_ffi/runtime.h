#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tvm_ffi/abi.h"
#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {

// The functions of the libtvm_ffi that the process has loaded. The adapter links none, so that it
// loads where tvm-ffi is absent.
struct Runtime {
  int (*FunctionCreate)(void* self, SafeCall call, void (*deleter)(void* self), Object** function);
  int (*FunctionSetGlobal)(const ByteArray* name, Object* function, int override_existing);
  int (*FunctionGetGlobal)(const ByteArray* name, Object** function);
  int (*FunctionCall)(Object* function, Any* args, std::int32_t count, Any* result);
  int (*ErrorCreate)(const ByteArray* kind, const ByteArray* message, const ByteArray* backtrace,
                     Object** error);
  void (*ErrorSetRaised)(Object* error);
  int (*StringFromByteArray)(const ByteArray* text, Any* result);
  int (*BytesFromByteArray)(const ByteArray* bytes, Any* result);
  void* (*EnvGetStream)(std::int32_t device_type, std::int32_t device_id);
  int (*ObjectDecRef)(Object* object);
  int (*ObjectIncRef)(Object* object);
  void (*GetVersion)(RuntimeVersion* version);
  void* const* module_vtable;  // of ModuleObj
};

// Finds it, once. Null, with the reason in `why`, where the process has none that fits.
const Runtime* find_runtime(std::string& why);
// The one that `find_runtime` found before.
const Runtime& runtime();

// A counted reference to an object of tvm-ffi.
struct ObjectRelease {
  void operator()(Object* object) const { runtime().ObjectDecRef(object); }
};
using ObjectRef = std::unique_ptr<Object, ObjectRelease>;

ByteArray byte_array(std::string_view text);

// Raises the error in this thread. Returns -1, which a safe call returns.
int raise(const Failure& failure) noexcept;

// Runs the body of a safe call.
template <typename Body>
int guarded(Body&& body) noexcept {
  try {
    body();
    return 0;
  } catch (const Failure& failure) {
    return raise(failure);
  } catch (const std::bad_alloc&) {
    return raise({"MemoryError", "the host has no memory left"});
  } catch (const std::exception& error) {
    return raise({"RuntimeError", error.what()});
  }
}

// A global function of tvm-ffi without arguments: "ffi.Array" makes an empty array. Throws Failure.
ObjectRef call_global(std::string_view name);

}  // namespace baton::tvm_ffi
