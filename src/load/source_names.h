#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "image/cubin/debug_params.h"
#include "load/kernel_set.h"

namespace baton::load {

// The names of parameters, for messages. Where the facts of a kernel have none, its source is
// compiled for them, once, when the first name is asked for. Thread-safe.
class SourceNames {
 public:
  // The kernels must outlive it.
  SourceNames(const KernelSet& kernels, bool use_cache)
      : kernels_(kernels), use_cache_(use_cache) {}

  // The name of a parameter of the program's kernel `kernel`; empty if it is not known.
  std::string param(std::string_view kernel, std::size_t index) const;

 private:
  image::DebugParams params_of(const Kernel& kernel, std::size_t module) const;

  const KernelSet& kernels_;
  const bool use_cache_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::size_t, image::DebugParams> known_;  // by module
};

}  // namespace baton::load
