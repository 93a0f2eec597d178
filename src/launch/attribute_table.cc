#include "launch/attribute_table.h"

#include <cuda.h>

#include <array>
#include <cstddef>

#include "chip/chip.h"

namespace baton::launch {
namespace {

using Value = CUlaunchAttributeValue;

constexpr double kMaxU32 = 4294967295.0;
constexpr double kMaxI32 = 2147483647.0;
// The largest 64-bit integer that a double holds exactly and that is not an overflow.
constexpr double kMaxU64 = 9223372036854774784.0;

// Three extents in blocks; y and z may be left out.
constexpr std::array<AttributeField, 3> extent_fields(std::size_t offset) {
  const auto at = [offset](int axis) { return static_cast<std::uint8_t>(offset + 4u * axis); };
  return {{{"x", FieldKind::kUnsigned, at(0), 4, 1, kMaxU32},
           {"y", FieldKind::kUnsigned, at(1), 4, 1, kMaxU32, {}, false, 1},
           {"z", FieldKind::kUnsigned, at(2), 4, 1, kMaxU32, {}, false, 1}}};
}

constexpr std::string_view kPolicies[] = {"default", "spread", "load_balancing"};
constexpr std::string_view kDomains[] = {"default", "remote"};
constexpr std::string_view kAccess[] = {"normal", "streaming", "persisting"};
constexpr std::string_view kClusterModes[] = {"default", "require_portable", "allow_non_portable"};
constexpr std::string_view kSharedModes[] = {"default", "require_portable", "allow_non_portable",
                                             "allow_oversized", "prefer_oversized"};
constexpr int kSharedModeDrivers[] = {0, 0, 0, 13040, 13040};

constexpr auto kCluster = extent_fields(offsetof(Value, clusterDim));
constexpr auto kPreferredCluster = extent_fields(offsetof(Value, preferredClusterDim));
constexpr AttributeField kFlag[] = {{"", FieldKind::kFlag, 0, 4, 0, 1}};
constexpr AttributeField kPolicy[] = {{"", FieldKind::kChoice, 0, 4, 0, 2, kPolicies}};
constexpr AttributeField kDomain[] = {{"", FieldKind::kChoice, 0, 4, 0, 1, kDomains}};
constexpr AttributeField kClusterMode[] = {{"", FieldKind::kChoice, 0, 4, 0, 2, kClusterModes}};
constexpr AttributeField kSharedMode[] = {{.kind = FieldKind::kChoice,
                                           .most = 4,
                                           .choices = kSharedModes,
                                           .choice_drivers = kSharedModeDrivers}};
constexpr AttributeField kPriority[] = {{"", FieldKind::kSigned, 0, 4, -kMaxI32 - 1, kMaxI32}};
constexpr AttributeField kPercent[] = {{"", FieldKind::kUnsigned, 0, 4, 0, 100}};
constexpr AttributeField domain(std::string_view name, std::uint8_t offset) {
  return {.name = name,
          .offset = offset,
          .size = 1,
          .most = 255,
          .device_limit = CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT,
          .below = true};
}
constexpr AttributeField kDomainMap[] = {domain("default", 0), domain("remote", 1)};
// CUaccessProperty counts 0, 1, 2 in the order of kAccess.
constexpr AttributeField kWindow[] = {
    {"base_ptr", FieldKind::kHandle, offsetof(CUaccessPolicyWindow, base_ptr), 8, 0, kMaxU64},
    {.name = "num_bytes",
     .offset = offsetof(CUaccessPolicyWindow, num_bytes),
     .size = 8,
     .most = kMaxU64,
     .device_limit = CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE},
    {"hit_ratio", FieldKind::kReal, offsetof(CUaccessPolicyWindow, hitRatio), 4, 0, 1},
    {"hit_prop", FieldKind::kChoice, offsetof(CUaccessPolicyWindow, hitProp), 4, 0, 2, kAccess},
    {"miss_prop", FieldKind::kChoice, offsetof(CUaccessPolicyWindow, missProp), 4, 0, 1,
     std::span(kAccess).first(2), false, 0},
};
constexpr AttributeField kProgrammaticEvent[] = {
    {"event", FieldKind::kHandle, offsetof(Value, programmaticEvent.event), 8, 1, kMaxU64},
    {"flags", FieldKind::kUnsigned, offsetof(Value, programmaticEvent.flags), 4, 0, 0, {}, false},
    {"trigger_at_block_start",
     FieldKind::kFlag,
     offsetof(Value, programmaticEvent.triggerAtBlockStart),
     4,
     0,
     1,
     {},
     false},
};
constexpr AttributeField kCompletionEvent[] = {
    {"event", FieldKind::kHandle, offsetof(Value, launchCompletionEvent.event), 8, 1, kMaxU64},
    {"flags",
     FieldKind::kUnsigned,
     offsetof(Value, launchCompletionEvent.flags),
     4,
     0,
     0,
     {},
     false},
};
constexpr AttributeField kUpdatable[] = {
    {"", FieldKind::kFlag, offsetof(Value, deviceUpdatableKernelNode.deviceUpdatable), 4, 0, 1}};

constexpr std::uint32_t kClusterBit = bit(AttributeId::kCluster);
constexpr std::uint32_t kCooperativeBit = bit(AttributeId::kCooperative);

// Names are the options of TVM's launch layer, so that metadata written for it reads here. The
// driver versions are those whose cuda.h first has the attribute; the conflict is what driver 580
// answers (CUDA_ERROR_NOT_SUPPORTED for a preferred cluster in a cooperative launch).
constexpr AttributeRow kRows[] = {
    {"access_policy_window", AttributeId::kAccessPolicyWindow, kWindow, 80, 11000},
    {"cooperative", AttributeId::kCooperative, kFlag, 60, 9000},
    {.name = "synchronization_policy",
     .id = AttributeId::kSynchronizationPolicy,
     .fields = kFlag,
     .graph = GraphUse::kNone,
     .refusal = "it is an attribute of streams, not of launches: set it on the stream"},
    {"cluster", AttributeId::kCluster, kCluster, chip::kFirstWithClusters, 11080},
    {"cluster_scheduling_policy", AttributeId::kClusterSchedulingPolicy, kPolicy,
     chip::kFirstWithClusters, 11080},
    {"programmatic_stream_serialization", AttributeId::kPdl, kFlag, chip::kFirstWithPdl, 11080,
     GraphUse::kEdge},
    {"programmatic_event", AttributeId::kProgrammaticEvent, kProgrammaticEvent, chip::kFirstWithPdl,
     11080, GraphUse::kEdge},
    {"priority", AttributeId::kPriority, kPriority, 0, 11070},
    {"mem_sync_domain_map", AttributeId::kMemSyncDomainMap, kDomainMap,
     chip::kFirstWithMemSyncDomains, 12000},
    {"mem_sync_domain", AttributeId::kMemSyncDomain, kDomain, chip::kFirstWithMemSyncDomains,
     12000},
    {"preferred_cluster", AttributeId::kPreferredCluster, kPreferredCluster,
     chip::kFirstWithClusters, 12080, GraphUse::kNode, kCooperativeBit, kClusterBit},
    {"launch_completion_event", AttributeId::kLaunchCompletionEvent, kCompletionEvent, 0, 12030,
     GraphUse::kEdge},
    {"device_updatable_node", AttributeId::kDeviceUpdatableNode, kUpdatable, 0, 12040},
    {"preferred_shared_memory_carveout", AttributeId::kPreferredSharedMemoryCarveout, kPercent, 70,
     12080},
    {"nvlink_util_centric_scheduling", AttributeId::kNvlinkUtilCentricScheduling, kFlag, 0, 13000},
    {"portable_cluster_size_mode", AttributeId::kPortableClusterSizeMode, kClusterMode,
     chip::kFirstWithClusters, 13020},
    {"shared_memory_mode", AttributeId::kSharedMemoryMode, kSharedMode, 0, 13020},
};

constexpr auto index_by_id() {
  std::array<std::int8_t, 32> index{};
  for (auto& row : index) row = -1;
  for (std::size_t i = 0; i < std::size(kRows); ++i) {
    index[static_cast<std::size_t>(kRows[i].id)] = static_cast<std::int8_t>(i);
  }
  return index;
}
constexpr auto kById = index_by_id();

constexpr std::uint32_t company_bits() {
  std::uint32_t bits = 0;
  for (const AttributeRow& row : kRows) {
    if ((row.conflicts | row.needs) != 0) bits |= bit(row.id);
  }
  return bits;
}

constexpr bool each_has_its_own_bit() {
  std::uint32_t bits = bit(AttributeId{31});
  for (const AttributeRow& row : kRows) {
    if ((bits & bit(row.id)) != 0) return false;
    bits |= bit(row.id);
  }
  return true;
}

static_assert(each_has_its_own_bit());
static_assert(std::size(kRows) <= LaunchAttributes::kCapacity);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(LaunchAttribute::kValueBytes == sizeof(Value));

}  // namespace

constinit const std::uint32_t kCompanyBits = company_bits();

std::span<const AttributeRow> attribute_rows() {
  return kRows;
}

const AttributeRow* find_row(AttributeId id) {
  const auto number = static_cast<std::size_t>(id);
  return number < kById.size() && kById[number] >= 0 ? &kRows[kById[number]] : nullptr;
}

const AttributeRow* find_row(std::string_view name) {
  for (const AttributeRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

LeafName find_leaf(std::string_view leaf) {
  const std::size_t dot = leaf.find('.');
  const std::string_view field =
      dot == std::string_view::npos ? std::string_view() : leaf.substr(dot + 1);
  const AttributeRow* row = find_row(leaf.substr(0, dot));
  if (row == nullptr) return {};
  for (const AttributeField& known : row->fields) {
    if (known.name == field) return {row, known.name};
  }
  return {};
}

}  // namespace baton::launch
