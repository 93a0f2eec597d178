#include "baton/attributes.h"

#include <utility>

#include "base/error.h"
#include "launch/attribute_table.h"

namespace baton {
namespace {

using launch::AttributeBuilder;
using launch::FieldValue;

// Through the table, which knows each field's place and range.
LaunchAttribute build(AttributeId id,
                      std::initializer_list<std::pair<std::string_view, FieldValue>> fields) {
  AttributeBuilder builder(*launch::find_row(id));
  for (const auto& [name, value] : fields) builder.set(name, value);
  return builder.build();
}

template <typename Enum>
LaunchAttribute choose(AttributeId id, Enum choice) {
  return build(id, {{"", static_cast<std::int64_t>(choice)}});
}

std::int64_t handle(const Event& event) {
  if (event.timing()) {
    throw error(ErrorCode::kInvalidInput,
                "an event that a launch records must be made without timing: "
                "Event(device, false)");
  }
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(event.native()));
}

// Whether the value says "as if it were left out". Those flags are 32-bit integers.
bool is_off(const LaunchAttribute& attribute) {
  switch (attribute.id()) {
    case AttributeId::kPdl:
    case AttributeId::kCooperative:
      return attribute.as<std::uint32_t>() == 0;
    default:
      return false;
  }
}

}  // namespace

LaunchAttribute::LaunchAttribute(AttributeId id, const void* value, std::size_t bytes)
    : id_(id), pad_(0), value_{} {
  if (bytes > kValueBytes) {
    throw error(ErrorCode::kInvalidInput, "{} has a value of {} bytes, attributes have at most {}",
                name(), bytes, kValueBytes);
  }
  if (bytes != 0) std::memcpy(value_.data(), value, bytes);
}

std::string LaunchAttribute::name() const {
  const launch::AttributeRow* row = launch::find_row(id_);
  return row != nullptr ? std::string(row->name)
                        : fmt::format("attribute {}", static_cast<std::uint32_t>(id_));
}

LaunchAttribute cluster(Dim3 blocks) {
  return LaunchAttribute(AttributeId::kCluster, std::array{blocks.x, blocks.y, blocks.z});
}
LaunchAttribute preferred_cluster(Dim3 blocks) {
  return LaunchAttribute(AttributeId::kPreferredCluster, std::array{blocks.x, blocks.y, blocks.z});
}
LaunchAttribute pdl(bool allowed) {
  return LaunchAttribute(AttributeId::kPdl, std::uint32_t{allowed});
}
LaunchAttribute cooperative(bool on) {
  return LaunchAttribute(AttributeId::kCooperative, std::uint32_t{on});
}
LaunchAttribute priority(int value) {
  return LaunchAttribute(AttributeId::kPriority, value);
}

LaunchAttribute cluster_scheduling_policy(ClusterSchedulingPolicy policy) {
  return choose(AttributeId::kClusterSchedulingPolicy, policy);
}
LaunchAttribute mem_sync_domain(MemSyncDomain domain) {
  return choose(AttributeId::kMemSyncDomain, domain);
}
LaunchAttribute portable_cluster_size_mode(PortableClusterSizeMode mode) {
  return choose(AttributeId::kPortableClusterSizeMode, mode);
}
LaunchAttribute shared_memory_mode(SharedMemoryMode mode) {
  return choose(AttributeId::kSharedMemoryMode, mode);
}
LaunchAttribute nvlink_util_centric_scheduling(bool on) {
  return choose(AttributeId::kNvlinkUtilCentricScheduling, on);
}
LaunchAttribute device_updatable_node() {
  return choose(AttributeId::kDeviceUpdatableNode, true);
}
LaunchAttribute preferred_shared_memory_carveout(int percent) {
  return choose(AttributeId::kPreferredSharedMemoryCarveout, percent);
}

LaunchAttribute mem_sync_domain_map(std::uint8_t default_domain, std::uint8_t remote_domain) {
  return build(AttributeId::kMemSyncDomainMap, {{"default", std::int64_t{default_domain}},
                                                {"remote", std::int64_t{remote_domain}}});
}

LaunchAttribute programmatic_event(const Event& event, bool at_block_start) {
  return build(
      AttributeId::kProgrammaticEvent,
      {{"event", handle(event)}, {"trigger_at_block_start", std::int64_t{at_block_start}}});
}
LaunchAttribute launch_completion_event(const Event& event) {
  return build(AttributeId::kLaunchCompletionEvent, {{"event", handle(event)}});
}

LaunchAttribute access_policy_window(DeviceAddress base, std::size_t bytes, float hit_ratio,
                                     AccessProperty hit, AccessProperty miss) {
  return build(AttributeId::kAccessPolicyWindow, {{"base_ptr", static_cast<std::int64_t>(base)},
                                                  {"num_bytes", static_cast<std::int64_t>(bytes)},
                                                  {"hit_ratio", static_cast<double>(hit_ratio)},
                                                  {"hit_prop", static_cast<std::int64_t>(hit)},
                                                  {"miss_prop", static_cast<std::int64_t>(miss)}});
}

void LaunchAttributes::set(const LaunchAttribute& attribute) {
  if (is_off(attribute)) return remove(attribute.id());
  std::uint32_t slot = 0;
  while (slot < count_ && slots_[slot].id() != attribute.id()) ++slot;
  if (slot == kCapacity) {
    throw error(ErrorCode::kInvalidInput, "a launch takes at most {} attributes; {} is one more",
                kCapacity, attribute.name());
  }
  slots_[slot] = attribute;
  if (slot == count_) ++count_;
}

void LaunchAttributes::remove(AttributeId id) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (slots_[i].id() == id) continue;
    if (kept != i) slots_[kept] = slots_[i];
    ++kept;
  }
  count_ = kept;
}

const LaunchAttribute* LaunchAttributes::find(AttributeId id) const {
  for (const LaunchAttribute& attribute : all()) {
    if (attribute.id() == id) return &attribute;
  }
  return nullptr;
}

std::optional<Dim3> LaunchAttributes::cluster() const {
  const LaunchAttribute* attribute = find(AttributeId::kCluster);
  if (attribute == nullptr) return std::nullopt;
  const auto blocks = attribute->as<std::array<std::uint32_t, 3>>();
  return Dim3(blocks[0], blocks[1], blocks[2]);
}

}  // namespace baton
