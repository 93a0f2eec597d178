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

void opt_in_to_any_cluster(const KernelState& kernel, const ResolvedKernel& resolved,
                           const LaunchConfig& config) {
  allow(kernel, resolved, config.shared, chip::kPortableCluster + 1);
}

}  // namespace baton::launch
