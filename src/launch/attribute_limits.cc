#include "launch/attribute_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "launch/attribute_table.h"
#include "launch/attribute_values.h"
#include "launch/limits.h"
#include "launch/submit.h"

namespace baton::launch {
namespace {

using Extents = std::array<std::uint32_t, 3>;

// What a config's attributes are, together.
struct Together {
  std::uint32_t present = 0;
  std::uint32_t conflicts = 0;
  std::uint32_t needs = 0;

  bool agree() const { return (present & conflicts) == 0 && (needs & ~present) == 0; }
};

void add(Together& together, const AttributeRow& row) {
  together.present |= bit(row.id);
  together.conflicts |= row.conflicts;
  together.needs |= row.needs;
}

Extents extents_of(const LaunchAttribute& attribute) {
  return attribute.as<Extents>();
}

bool is_multiple(const Extents& larger, const Extents& smaller) {
  return larger[0] % smaller[0] == 0 && larger[1] % smaller[1] == 0 && larger[2] == smaller[2];
}

bool is_whole(const Extents& cluster) {
  return cluster[0] != 0 && cluster[1] != 0 && cluster[2] != 0;
}

bool cluster_fits(const ResolvedKernel& kernel, const Extents& cluster, const Dim3& grid) {
  return is_whole(cluster) && divides(cluster, grid) &&
         (!is_fixed(kernel.required_cluster()) || cluster == kernel.required_cluster());
}

bool preferred_fits(const ResolvedKernel& kernel, const LaunchConfig& config,
                    const Extents& preferred) {
  const std::optional<Dim3> cluster = cluster_of(kernel, config.attributes);
  return cluster && is_whole(preferred) && is_multiple(preferred, extents(*cluster)) &&
         divides(preferred, config.grid);
}

// What counts as present before any attribute: the cluster that the kernel was compiled for.
Together compiled_in(const ResolvedKernel& kernel) {
  Together together;
  if (is_fixed(kernel.compiled_cluster())) together.present = bit(AttributeId::kCluster);
  return together;
}

// Attributes without a row are the driver's to judge.
bool all_available(const LaunchAttributes& attributes, const Device& device) {
  return std::ranges::all_of(attributes.all(), [&](const LaunchAttribute& attribute) {
    const AttributeRow* row = find_row(attribute.id());
    return row == nullptr || is_available(*row, device);
  });
}

// A kernel that starts early and never waits may read what the one before it has not written yet.
bool lacks_wait(const KernelFacts& facts, const LaunchConfig& config) {
  return facts.waits == false && !config.force_pdl && config.pdl();
}

Error missing_wait(const KernelFacts& facts) {
  const auto cause = missing_wait_cause(facts);
  return error(
      ErrorCode::kInvalidInput,
      "kernel {} is launched with pdl and never waits for the launch before it "
      "(griddepcontrol.wait){}{}; leave pdl out, or force it if the kernel needs nothing of that "
      "launch",
      facts.name, cause ? ": " : "", cause.value_or(""));
}

bool company_fits(const ResolvedKernel& kernel, const LaunchConfig& config) {
  Together together = compiled_in(kernel);
  for (const LaunchAttribute& attribute : config.attributes.all()) {
    const AttributeRow* row = find_row(attribute.id());
    if (row == nullptr) continue;
    add(together, *row);
    if (row->id == AttributeId::kCluster &&
        !cluster_fits(kernel, extents_of(attribute), config.grid)) {
      return false;
    }
    if (row->id == AttributeId::kPreferredCluster &&
        !preferred_fits(kernel, config, extents_of(attribute))) {
      return false;
    }
  }
  return together.agree();
}

std::string text(const Extents& extent) {
  return fmt::format("({}, {}, {})", extent[0], extent[1], extent[2]);
}

Error unavailable(const KernelState& kernel, const Device& device, const AttributeRow& row,
                  const LaunchAttribute& attribute) {
  if (!row.refusal.empty()) {
    return error(ErrorCode::kInvalidInput, "kernel {}: {}: {}", kernel.facts().name, row.name,
                 row.refusal);
  }
  if (row.architecture > device.architecture()) {
    return error(ErrorCode::kUnsupported,
                 "kernel {}: {} needs compute capability {}.{}, {} ({}) has {}.{}; leave it out",
                 kernel.facts().name, row.name, row.architecture / 10, row.architecture % 10,
                 device.spec(), device.name(), device.architecture() / 10,
                 device.architecture() % 10);
  }
  auto newer = choice_without_driver(kernel, device, row, attribute);
  return newer ? *std::move(newer) : driver_error(kernel, device, row.name, row.driver);
}

std::string names(std::uint32_t bits) {
  std::vector<std::string_view> list;
  for (const AttributeRow& row : attribute_rows()) {
    if ((bits & bit(row.id)) != 0) list.push_back(row.name);
  }
  return fmt::format("{}", fmt::join(list, " and "));
}

std::optional<Error> broken_company(const KernelState& kernel, const AttributeRow& row,
                                    std::uint32_t present) {
  if ((row.conflicts & present) != 0) {
    return error(ErrorCode::kInvalidInput,
                 "kernel {}: {} and {} exclude each other: the driver accepts only one of them",
                 kernel.facts().name, row.name, names(row.conflicts & present));
  }
  if ((row.needs & ~present) != 0) {
    return error(ErrorCode::kInvalidInput, "kernel {}: {} also needs {}", kernel.facts().name,
                 row.name, names(row.needs & ~present));
  }
  return std::nullopt;
}

Error broken_cluster(const KernelState& kernel, const ResolvedKernel& resolved,
                     const LaunchConfig& config, const Extents& cluster) {
  const Extents& required = resolved.required_cluster();
  if (!is_whole(cluster)) {
    return limit_error(kernel,
                       "the cluster {} has no blocks along an axis; the smallest extent is 1",
                       text(cluster));
  }
  if (is_fixed(required) && cluster != required) {
    return limit_error(kernel, "the cluster is {}, the kernel was compiled for {}", text(cluster),
                       text(required));
  }
  return limit_error(kernel, "the grid {} is not divisible by the cluster {}",
                     to_string(config.grid), text(cluster));
}

Error broken_preferred(const KernelState& kernel, const ResolvedKernel& resolved,
                       const LaunchConfig& config, const Extents& preferred) {
  const Extents cluster = extents(*cluster_of(resolved, config.attributes));
  if (!is_whole(preferred) || !is_multiple(preferred, cluster)) {
    return limit_error(
        kernel, "the preferred cluster {} is not a multiple of the cluster {} (equal along z)",
        text(preferred), text(cluster));
  }
  return limit_error(kernel, "the grid {} is not divisible by the preferred cluster {}",
                     to_string(config.grid), text(preferred));
}

}  // namespace

bool is_available(const AttributeRow& row, const Device& device) {
  return row.refusal.empty() && row.architecture <= device.architecture() &&
         row.driver <= device.driver_version();
}

bool divides(const Extents& cluster, const Dim3& grid) {
  const auto axes = extents(grid);
  for (int i = 0; i < 3; ++i) {
    if (cluster[i] != 0 && axes[i] % cluster[i] != 0) return false;
  }
  return true;
}

bool attributes_fit(const ResolvedKernel& kernel, const LaunchConfig& config) {
  const std::uint32_t present = config.attributes.present();
  if ((present & ~kernel.known_attributes()) != 0) {
    if (!all_available(config.attributes, kernel.device())) return false;
    if (lacks_wait(kernel.facts(), config)) return false;
    // What a kernel without a wait may be launched with depends on more than the attributes.
    const bool depends = kernel.facts().waits == false;
    kernel.know_attributes(depends ? present & ~bit(AttributeId::kPdl) : present);
  }
  return (present & (kCompanyBits | bit(AttributeId::kCluster))) == 0 ||
         company_fits(kernel, config);
}

std::optional<Error> broken_attribute(const KernelState& kernel, const ResolvedKernel& resolved,
                                      const LaunchConfig& config) {
  const auto& required = resolved.required_cluster();
  if (is_fixed(required) && !divides(required, config.grid)) {
    return limit_error(
        kernel, "the grid {} is not divisible by the cluster {} that the kernel was compiled for",
        to_string(config.grid), text(required));
  }
  Together together = compiled_in(resolved);
  for (const LaunchAttribute& attribute : config.attributes.all()) {
    const AttributeRow* row = find_row(attribute.id());
    if (row == nullptr) continue;
    if (!is_available(*row, resolved.device()))
      return unavailable(kernel, resolved.device(), *row, attribute);
    add(together, *row);
  }
  if (lacks_wait(kernel.facts(), config)) return missing_wait(kernel.facts());
  for (const LaunchAttribute& attribute : config.attributes.all()) {
    const AttributeRow* row = find_row(attribute.id());
    if (row == nullptr) continue;
    if (auto broken = broken_company(kernel, *row, together.present)) return broken;
    if (row->id == AttributeId::kCluster &&
        !cluster_fits(resolved, extents_of(attribute), config.grid)) {
      return broken_cluster(kernel, resolved, config, extents_of(attribute));
    }
    if (row->id == AttributeId::kPreferredCluster &&
        !preferred_fits(resolved, config, extents_of(attribute))) {
      return broken_preferred(kernel, resolved, config, extents_of(attribute));
    }
  }
  return std::nullopt;
}

}  // namespace baton::launch
