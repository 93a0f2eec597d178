#include <algorithm>

#include "sim/api/refusal.h"
#include "sim/queue/launch.h"

namespace baton::sim {
namespace {

std::optional<Extent3> required_by_image(const KernelView& view) {
  const std::uint32_t* required = view.kernel.required_cluster;
  if (required[0] == 0) return std::nullopt;
  return Extent3{required[0], required[1], required[2]};
}

std::optional<Extent3> asked_for(const LaunchRequest& request, const KernelView& view) {
  if (request.cluster) return request.cluster;
  const int* set = view.settings.cluster;
  if (set[0] == 0 && set[1] == 0 && set[2] == 0) return std::nullopt;
  return Extent3{static_cast<std::uint32_t>(set[0]), static_cast<std::uint32_t>(set[1]),
                 static_cast<std::uint32_t>(set[2])};
}

bool same(const Extent3& a, const Extent3& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

bool is_multiple(const Extent3& whole, const Extent3& part) {
  return whole.x % part.x == 0 && whole.y % part.y == 0 && whole.z % part.z == 0;
}

void require_size(bool holds) {
  require(holds, CUDA_ERROR_INVALID_CLUSTER_SIZE);
}

}  // namespace

std::uint32_t largest_cluster(const KernelView& view) {
  const chip::Chip& chip = view.profile.chip();
  return view.settings.non_portable_cluster != 0
             ? chip.largest_cluster
             : std::min(chip.largest_cluster, chip::kPortableCluster);
}

std::optional<Extent3> cluster_of(const LaunchRequest& request, const KernelView& view) {
  const std::optional<Extent3> required = required_by_image(view);
  const std::optional<Extent3> asked = asked_for(request, view);
  require_size(!required || !asked || same(*required, *asked));
  const std::optional<Extent3> cluster = required ? required : asked;
  if (!cluster) return std::nullopt;
  require_size(cluster->x != 0 && cluster->y != 0 && cluster->z != 0);
  const std::uint32_t most = largest_cluster(view);
  require_size(cluster->x <= most && cluster->y <= most && cluster->z <= most &&
               cluster->count() <= most);
  return cluster;
}

void check_cluster(const LaunchRequest& request, const std::optional<Extent3>& cluster) {
  require_size(!cluster || is_multiple(request.grid, *cluster));
  if (!request.preferred_cluster) return;
  // Blocks may be grouped by either; here they always are by the smaller. A preferred cluster of
  // more blocks than a device takes is legal, and not used (H200, driver 580).
  const Extent3& preferred = *request.preferred_cluster;
  require_size(cluster.has_value());
  require_size(preferred.x != 0 && preferred.y != 0 && preferred.z != 0);
  require_size(is_multiple(preferred, *cluster) && is_multiple(request.grid, preferred));
  require(!request.cooperative, CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace baton::sim
