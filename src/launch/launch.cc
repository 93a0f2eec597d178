#include <vector>

#include "base/error.h"
#include "baton/module.h"
#include "launch/attribute_limits.h"
#include "launch/attribute_values.h"
#include "launch/diagnosis.h"
#include "launch/limits.h"
#include "launch/opt_in.h"
#include "launch/signature.h"
#include "launch/submit.h"
#include "launch/traced_arguments.h"
#include "runtime/context.h"
#include "runtime/exception_result.h"

namespace baton {

CUresult launch::submit_in_full(const ResolvedKernel& kernel, const CUlaunchConfig& config,
                                std::uint64_t cluster, void* const* arguments,
                                CUdeviceptr records) noexcept {
  CUresult result = kernel.allow_shared(config.sharedMemBytes);
  if (result == CUDA_SUCCESS) result = kernel.allow_cluster(cluster);
  if (result != CUDA_SUCCESS) return result;
  try {
    if (kernel.is_noted()) kernel.note_launch(config.hStream);
    const TracedArguments all(kernel, arguments, records);
    if (!needs_context(config.hStream)) return call_driver(kernel, config, all.data());
    return submit_in_context(kernel, config, all.data());
  } catch (...) {
    return result_of_exception();
  }
}

[[gnu::hot]] CUresult launch::submit_in_context(const ResolvedKernel& kernel,
                                                const CUlaunchConfig& config,
                                                void* const* arguments) noexcept {
  try {
    const ContextGuard guard(*kernel.device().state());
    return call_driver(kernel, config, arguments);
  } catch (...) {
    return result_of_exception();
  }
}

namespace {

// Arguments up to this many are packed on the stack.
constexpr std::size_t kStackArguments = 64;

void check_arguments(const KernelState& kernel, const ResolvedKernel& resolved,
                     Span<const ArgumentType> types) {
  if (!launch::accepts(resolved, types)) throw launch::unfit_arguments(kernel, resolved, types);
}

// The driver writes the node's handle into the attribute, so it gets one of its own.
CUresult submit_updatable(const ResolvedKernel& kernel, const LaunchConfig& config,
                          void* const* arguments, LaunchResult* result) noexcept {
  LaunchAttributes own = config.attributes;
  const CUresult status = launch::submit(kernel, launch::native_config(kernel, config, own.all()),
                                         launch::cluster_blocks(kernel, own), arguments);
  if (status == CUDA_SUCCESS && result != nullptr) *result = launch::result_of(own);
  return status;
}

[[gnu::hot]] CUresult submit(const ResolvedKernel& kernel, const LaunchConfig& config,
                             void* const* arguments, LaunchResult* result) noexcept {
  if (config.attributes.has(AttributeId::kDeviceUpdatableNode)) {
    return submit_updatable(kernel, config, arguments, result);
  }
  return launch::submit(kernel, launch::native_config(kernel, config, config.attributes.all()),
                        launch::cluster_blocks(kernel, config.attributes), arguments);
}

// With arguments that the kernel accepts.
LaunchResult launch_checked(const KernelState& kernel, const ResolvedKernel& resolved,
                            const LaunchConfig& config, void* const* arguments) {
  launch::require_fit(kernel, resolved, config);
  LaunchResult result;
  const CUresult status = submit(resolved, config, arguments, &result);
  if (status != CUDA_SUCCESS) throw launch::diagnose(kernel, resolved, config, status);
  return result;
}

}  // namespace

LaunchResult Kernel::launch_packed(const LaunchConfig& config, void* const* arguments,
                                   Span<const ArgumentType> types) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  check_arguments(*state_, resolved, types);
  return launch_checked(*state_, resolved, config, arguments);
}

LaunchResult Kernel::launch_known(const LaunchConfig& config, void* const* arguments,
                                  Span<const ArgumentType> types, std::uint64_t fingerprint) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  if (resolved.accepted_types() != fingerprint) [[unlikely]] {
    check_arguments(*state_, resolved, types);
    resolved.accept_types(fingerprint);
  }
  return launch_checked(*state_, resolved, config, arguments);
}

LaunchResult Kernel::launch_arguments(const LaunchConfig& config,
                                      Span<const Argument> arguments) const {
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
  return launch_packed(config, pointers, {types, arguments.size()});
}

namespace {

// For a device on which the kernel was not resolved yet, and with more attributes.
[[gnu::noinline]] NativeResult launch_raw_in_full(const KernelState& state,
                                                  const LaunchConfig& config,
                                                  void* const* arguments,
                                                  Span<const LaunchAttribute> more,
                                                  LaunchResult* result) noexcept {
  try {
    const ResolvedKernel& resolved = state.on(launch::device_of(config, state.home()));
    LaunchConfig joined = config;
    for (const LaunchAttribute& attribute : more) joined.attributes.set(attribute);
    return submit(resolved, joined, arguments, result);
  } catch (...) {
    return result_of_exception();
  }
}

}  // namespace

[[gnu::hot]] NativeResult Kernel::launch_raw(const LaunchConfig& config, void* const* arguments,
                                             Span<const LaunchAttribute> more,
                                             LaunchResult* result) const noexcept {
  const ResolvedKernel* resolved = state_->published_on(launch::device_of(config, state_->home()));
  if (resolved == nullptr || !more.empty()) [[unlikely]]
    return launch_raw_in_full(*state_, config, arguments, more, result);
  return submit(*resolved, config, arguments, result);
}

NativeResult Kernel::launch_raw(const NativeLaunchConfig& config,
                                void* const* arguments) const noexcept {
  return launch_raw(config, arguments, state_->home());
}

NativeResult Kernel::launch_raw(const NativeLaunchConfig& config, void* const* arguments,
                                const Device& on) const noexcept {
  const ResolvedKernel* resolved = state_->published_on(*on.identity());
  if (resolved == nullptr) return launch_raw_first(config, arguments, on);
  return launch::submit(*resolved, config, launch::cluster_blocks(*resolved, config), arguments);
}

NativeResult Kernel::launch_raw_first(const NativeLaunchConfig& config, void* const* arguments,
                                      const Device& on) const noexcept {
  try {
    const ResolvedKernel& resolved = state_->on(on);
    return launch::submit(resolved, config, launch::cluster_blocks(resolved, config), arguments);
  } catch (...) {
    return result_of_exception();
  }
}

Error Kernel::diagnose(const LaunchConfig& config, NativeResult result) const {
  return launch::diagnose(*state_, state_->on(launch::device_of(config, state_->home())), config,
                          static_cast<CUresult>(result));
}

Error Kernel::diagnose(const NativeLaunchConfig& config, NativeResult result) const {
  return diagnose(config, result, state_->home());
}

Error Kernel::diagnose(const NativeLaunchConfig& config, NativeResult result,
                       const Device& on) const {
  return diagnose(launch::config_of(config, state_->on(on)), result);
}

void Kernel::check(const LaunchConfig& config) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  launch::require_fit(*state_, resolved, config);
  if (auto broken = launch::broken_value(*state_, resolved, config)) throw std::move(*broken);
  if (auto broken = launch::broken_residency(*state_, resolved, config)) throw std::move(*broken);
}

void Kernel::check(Span<const ArgumentType> types) const {
  check_arguments(*state_, state_->at_home(), types);
}

void Kernel::prepare(const LaunchConfig& config) const {
  const ResolvedKernel& resolved = state_->on(launch::device_of(config, state_->home()));
  launch::opt_in(*state_, resolved, config);
}

}  // namespace baton
