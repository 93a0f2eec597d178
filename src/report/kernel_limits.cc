#include <cuda.h>

#include "base/error.h"
#include "baton/check.h"
#include "launch/attribute_table.h"

namespace baton {
namespace {

// A question that a device may have no answer to.
template <typename Ask>
auto answer(Ask&& ask) -> std::optional<decltype(ask())> {
  try {
    return ask();
  } catch (const Error& failure) {
    if (failure.code() == ErrorCode::kUnsupported) return std::nullopt;
    if (failure.driver_result() == CUDA_ERROR_NOT_SUPPORTED) return std::nullopt;
    throw;
  }
}

}  // namespace

KernelLimits kernel_limits(const Kernel& kernel, const LaunchConfig& config) {
  KernelLimits limits;
  limits.max_threads = kernel.max_threads();
  limits.max_dynamic_shared = kernel.max_dynamic_shared();
  limits.registers = static_cast<std::uint32_t>(kernel.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
  limits.static_shared =
      static_cast<std::uint32_t>(kernel.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  limits.blocks_per_multiprocessor =
      answer([&] { return kernel.blocks_per_multiprocessor(config); });
  limits.max_cooperative_blocks = answer([&] { return kernel.max_cooperative_blocks(config); });
  const int needed = launch::find_row(AttributeId::kCluster)->architecture;
  if (kernel.device().architecture() >= needed) {
    limits.max_cluster = answer([&] { return kernel.max_cluster_size(config); });
  }
  return limits;
}

}  // namespace baton
