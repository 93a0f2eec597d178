#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "tvm_ffi/handle.h"
#include "tvm_ffi/loaded_bundle.h"
#include "tvm_ffi/program_parts.h"
#include "tvm_ffi/runtime.h"
#include "tvm_ffi/target.h"

namespace baton::tvm_ffi {

// An opened bundle, which is loaded for a device at the first call there. Thread-safe. A module and
// its functions share one.
class BundleModule {
 public:
  // Throw Failure.
  static std::shared_ptr<BundleModule> open(const std::string& path);
  static std::shared_ptr<BundleModule> from_bytes(std::string_view bytes);

  const ProgramParts& parts() const { return parts_; }
  // Throws Failure.
  LoadedBundle& on(const Target& target);
  // The bytes of the bundle. Throws Failure for a file that cannot be read any more.
  std::string bytes() const;

 private:
  BundleModule(BundleHandle bundle, std::string path, std::string bytes);

  BundleHandle bundle_;
  std::string path_;   // empty: `bytes_` has the bundle
  std::string bytes_;  // empty: the file has it
  ProgramParts parts_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<LoadedBundle>> loaded_;  // by the device's spec
};

// What a name means in a module.
struct FunctionName {
  enum class Kind { kProgram, kProgramGraph, kKernel } kind;
  std::string kernel = {};
};
// "main" is the program, "main_graph" the program as one CUDA graph. Every other name is a kernel;
// "kernel.main" is always one. The program's own name is the program where no kernel has it.
// Nothing for an unknown name.
std::optional<FunctionName> find_function(const ProgramParts& parts, std::string_view name);

// A function of tvm-ffi, which keeps the bundle. Throws Failure.
ObjectRef make_function(std::shared_ptr<BundleModule> module, FunctionName name);
// Its text for people: arguments and types.
std::string describe_function(const ProgramParts& parts, const FunctionName& name);

}  // namespace baton::tvm_ffi
