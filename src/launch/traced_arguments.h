#pragma once

#include <cuda.h>

#include <vector>

#include "runtime/kernel_state.h"

namespace baton::launch {

// The arguments that the driver gets for an instrumented kernel: the launch's own, and the address
// of its records, which may be 0. Of other kernels, the launch's own alone. The own ones must
// outlive it.
class TracedArguments {
 public:
  TracedArguments(const ResolvedKernel& kernel, void* const* own, CUdeviceptr records)
      : own_(own), records_(records) {
    if (!kernel.is_traced()) return;
    all_.assign(own, own + kernel.params().size());
    all_.push_back(&records_);
  }
  TracedArguments(const TracedArguments&) = delete;
  TracedArguments& operator=(const TracedArguments&) = delete;

  void* const* data() const { return all_.empty() ? own_ : all_.data(); }

 private:
  void* const* own_;
  CUdeviceptr records_;
  std::vector<void*> all_;
};

}  // namespace baton::launch
