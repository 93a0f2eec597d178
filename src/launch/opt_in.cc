#include "launch/opt_in.h"

#include "base/error.h"
#include "launch/limits.h"
#include "launch/submit.h"

namespace baton::launch {
namespace {

void allow(const KernelState& kernel, const ResolvedKernel& resolved, std::uint32_t shared,
           std::uint64_t cluster) {
  if (auto broken = broken_shared(kernel, resolved, shared)) throw std::move(*broken);
  const driver::Driver& driver = resolved.device().driver();
  driver::check(driver, resolved.allow_shared(shared),
                "cuFuncSetAttribute of dynamic shared memory");
  driver::check(driver, resolved.allow_cluster(cluster),
                "cuFuncSetAttribute of non-portable clusters");
}

}  // namespace

void opt_in(const KernelState& kernel, const ResolvedKernel& resolved, const LaunchConfig& config) {
  allow(kernel, resolved, config.shared, cluster_blocks(resolved, config.attributes));
}

void allow_on_parts(const KernelState& kernel, const ResolvedKernel& resolved,
                    const LaunchConfig& config) {
  const Device& device = resolved.device();
  const auto set = [&](CUfunction_attribute id, std::uint32_t value) {
    BATON_DRIVER_CALL(device.driver(), cuKernelSetAttribute, id, static_cast<int>(value),
                      kernel.handle(), device.native());
  };
  if (std::uint64_t{config.shared} + resolved.static_shared() > device.limits().shared_per_block) {
    set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, resolved.max_dynamic_shared());
  }
  if (cluster_blocks(resolved, config.attributes) > chip::kPortableCluster) {
    set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  }
}

void opt_in_to_any_cluster(const KernelState& kernel, const ResolvedKernel& resolved,
                           const LaunchConfig& config) {
  allow(kernel, resolved, config.shared, chip::kPortableCluster + 1);
}

}  // namespace baton::launch
