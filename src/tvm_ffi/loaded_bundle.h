#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_ffi/handle.h"
#include "tvm_ffi/program_call.h"
#include "tvm_ffi/target.h"

namespace baton::tvm_ffi {

// The program of a bundle on one device. Thread-safe.
class LoadedBundle {
 public:
  // Throws Failure.
  LoadedBundle(const baton_bundle* bundle, const ProgramParts& parts, const Target& target);

  OpenDevice& device() { return device_; }
  const ProgramParts& parts() const { return parts_; }
  // A kernel by its name in the program. Throws Failure.
  const baton_kernel* kernel(const std::string& name);
  // The program as it is called by `main` and by `main_graph`.
  ProgramCall& program(std::int32_t executor);

 private:
  const ProgramParts& parts_;
  OpenDevice device_;
  ProgramHandle program_;
  std::mutex mutex_;
  std::map<std::string, KernelHandle> kernels_;
  std::map<std::int32_t, std::unique_ptr<ProgramCall>> calls_;
};

}  // namespace baton::tvm_ffi
