#include "launch/diagnosis.h"

#include "base/error.h"
#include "launch/limits.h"
#include "runtime/release.h"

namespace baton::launch {
namespace {

// The driver's error as `check` words it, with its code and notes.
Error driver_error(const driver::Driver& driver, CUresult result) {
  try {
    driver::check(driver, result, "cuLaunchKernelEx");
  } catch (Error& failure) {
    return std::move(failure);
  }
  return error(ErrorCode::kInternal, "a launch that succeeded was diagnosed");
}

}  // namespace

Error diagnose(const KernelState& kernel, const LaunchConfig& config, CUresult result) {
  const driver::Driver& driver = kernel.device.driver();
  if (is_sticky(result)) {
    Error failure = driver_error(driver, result);
    failure.note("the failure is of work enqueued before; kernel " + kernel.facts.name +
                 " was not launched");
    return failure;
  }
  if (auto broken = broken_limit(kernel, config)) return std::move(*broken);

  const ResolvedKernel& resolved = kernel.resolved();
  const std::uint64_t registers = config.block.count() * resolved.registers();
  if (result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES &&
      registers > kernel.device.limits().registers_per_block) {
    return error(ErrorCode::kLimit,
                 "kernel {}: {} threads of {} registers need {}, {} has {} for a block",
                 kernel.facts.name, config.block.count(), resolved.registers(), registers,
                 kernel.device.spec(), kernel.device.limits().registers_per_block);
  }
  Error failure = driver_error(driver, result);
  failure.note(
      fmt::format("kernel {} on {}: grid {}, block {}, {} bytes of dynamic and {} of static "
                  "shared memory",
                  kernel.facts.name, kernel.device.spec(), to_string(config.grid),
                  to_string(config.block), config.shared, resolved.static_shared()));
  return failure;
}

}  // namespace baton::launch
