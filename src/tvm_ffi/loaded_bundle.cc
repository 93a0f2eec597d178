#include "tvm_ffi/loaded_bundle.h"

#include "tvm_ffi/failure.h"

namespace baton::tvm_ffi {

LoadedBundle::LoadedBundle(const baton_bundle* bundle, const ProgramParts& parts,
                           const Target& target)
    : parts_(parts), device_(target) {
  check(baton_program_load(bundle, device_.get(), nullptr, program_.out()));
}

const baton_kernel* LoadedBundle::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  KernelHandle& kernel = kernels_[name];
  if (!kernel) check(baton_program_kernel(program_.get(), name.c_str(), kernel.out()));
  return kernel.get();
}

ProgramCall& LoadedBundle::program(std::int32_t executor) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<ProgramCall>& call = calls_[executor];
  if (!call) call = std::make_unique<ProgramCall>(parts_, device_, program_.get(), executor);
  return *call;
}

}  // namespace baton::tvm_ffi
