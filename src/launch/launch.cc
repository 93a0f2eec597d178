#include <vector>

#include "base/error.h"
#include "baton/module.h"
#include "launch/diagnosis.h"
#include "launch/limits.h"
#include "launch/signature.h"
#include "runtime/context.h"
#include "runtime/kernel_state.h"

namespace baton {
namespace {

// Arguments up to this many are packed on the stack.
constexpr std::size_t kStackArguments = 64;

[[noreturn]] void refuse_config(const KernelState& kernel, const LaunchConfig& config) {
  if (auto broken = launch::broken_limit(kernel, config)) throw std::move(*broken);
  throw error(ErrorCode::kInternal, "kernel {}: a config was refused for no limit",
              kernel.facts.name);
}

[[noreturn]] void refuse_stream(const KernelState& kernel, const Device& stream) {
  throw error(
      ErrorCode::kInvalidInput,
      "kernel {} is loaded on {}, the stream belongs to {}; load the module on the stream's "
      "device",
      kernel.facts.name, kernel.device.spec(), stream.spec());
}

void check_config(const KernelState& kernel, const ResolvedKernel& resolved,
                  const LaunchConfig& config) {
  if (!launch::fits(resolved, kernel.device.limits(), config)) refuse_config(kernel, config);
  if (config.stream.device != nullptr && !(*config.stream.device == kernel.device)) {
    refuse_stream(kernel, *config.stream.device);
  }
}

void check_arguments(const KernelState& kernel, const ResolvedKernel& resolved,
                     std::span<const ArgumentType> types) {
  if (!launch::accepts(resolved, types)) throw launch::unfit_arguments(kernel, types);
}

}  // namespace

void Kernel::launch_packed(const LaunchConfig& config, void* const* arguments,
                           std::span<const ArgumentType> types) const {
  const KernelState& kernel = *state_;
  const ResolvedKernel& resolved = kernel.resolved();
  check_arguments(kernel, resolved, types);
  check_config(kernel, resolved, config);

  ContextGuard guard(kernel.device);
  resolved.allow_shared(config.shared);
  CUlaunchConfig native{};
  native.gridDimX = config.grid.x;
  native.gridDimY = config.grid.y;
  native.gridDimZ = config.grid.z;
  native.blockDimX = config.block.x;
  native.blockDimY = config.block.y;
  native.blockDimZ = config.block.z;
  native.sharedMemBytes = config.shared;
  native.hStream = config.stream.native;
  // The driver reads the arguments and never writes them.
  const CUresult result = kernel.device.driver().cuLaunchKernelEx(
      &native, resolved.function(), const_cast<void**>(arguments), nullptr);
  if (result != CUDA_SUCCESS) throw launch::diagnose(kernel, config, result);
}

void Kernel::launch_arguments(const LaunchConfig& config,
                              std::span<const Argument> arguments) const {
  std::array<void*, kStackArguments> few_pointers;
  std::array<ArgumentType, kStackArguments> few_types;
  std::vector<void*> many_pointers;
  std::vector<ArgumentType> many_types;
  void** pointers = few_pointers.data();
  ArgumentType* types = few_types.data();
  if (arguments.size() > kStackArguments) {
    many_pointers.resize(arguments.size());
    many_types.resize(arguments.size());
    pointers = many_pointers.data();
    types = many_types.data();
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    pointers[i] = const_cast<void*>(arguments[i].data);
    types[i] = arguments[i].type();
  }
  launch_packed(config, pointers, {types, arguments.size()});
}

void Kernel::check(const LaunchConfig& config) const {
  check_config(*state_, state_->resolved(), config);
}

void Kernel::check(std::span<const ArgumentType> types) const {
  check_arguments(*state_, state_->resolved(), types);
}

void Kernel::prepare(std::uint32_t shared) const {
  const ResolvedKernel& resolved = state_->resolved();
  LaunchConfig config;
  config.shared = shared;
  if (shared > resolved.max_dynamic_shared()) {
    // A block that the kernel takes, so that shared memory is what the message is about.
    const auto& block = resolved.required_block();
    if (block[0] != 0) config.block = Dim3(block[0], block[1], block[2]);
    refuse_config(*state_, config);
  }
  ContextGuard guard(state_->device);
  resolved.allow_shared(shared);
}

}  // namespace baton
