#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "baton/dim3.h"
#include "baton/export.h"
#include "baton/native.h"
#include "baton/stream.h"

namespace baton {

// The launch attributes of the driver, by its own numbers (CUlaunchAttributeID).
enum class AttributeId : std::uint32_t {
  kAccessPolicyWindow = 1,
  kCooperative = 2,
  kSynchronizationPolicy = 3,  // of streams only
  kCluster = 4,
  kClusterSchedulingPolicy = 5,
  kPdl = 6,  // programmatic stream serialization
  kProgrammaticEvent = 7,
  kPriority = 8,
  kMemSyncDomainMap = 9,
  kMemSyncDomain = 10,
  kPreferredCluster = 11,
  kLaunchCompletionEvent = 12,
  kDeviceUpdatableNode = 13,
  kPreferredSharedMemoryCarveout = 14,
  kNvlinkUtilCentricScheduling = 16,
  kPortableClusterSizeMode = 17,
  kSharedMemoryMode = 18,
};

// One attribute with its value, laid out as the driver's CUlaunchAttribute, so that a launch hands
// it over as it stands. Every byte that its value does not use is zero. Make one by the functions
// below, or, for what they do not know, from a number and bytes.
class BATON_API LaunchAttribute {
 public:
  static constexpr std::size_t kValueBytes = 64;

  // Up to 64 bytes of value, taken as they are: the driver checks them. Throws kInvalidInput for
  // more.
  LaunchAttribute(AttributeId id, const void* value, std::size_t bytes);
  template <typename T>
  LaunchAttribute(AttributeId id, const T& value) : id_(id), pad_(0), words_(words(value)) {}

  AttributeId id() const { return id_; }
  std::span<const std::byte, kValueBytes> value() const {
    return std::as_bytes(std::span(words_));
  }
  // The value's first bytes as what they stand for.
  template <typename T>
  T as() const {
    static_assert(sizeof(T) <= kValueBytes && std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, words_.data(), sizeof(T));
    return value;
  }
  // "cluster"; "attribute 40" for a number that Baton has no row for.
  std::string name() const;

  friend bool operator==(const LaunchAttribute&, const LaunchAttribute&) = default;

 private:
  friend class LaunchAttributes;
  LaunchAttribute() {}  // NOLINT: leaves its bytes unwritten, as an unused slot

  // Put together in a register: what is written in parts is slow to read as a whole.
  using Words = std::array<std::uint64_t, kValueBytes / sizeof(std::uint64_t)>;
  template <typename T>
  static Words words(const T& value) {
    static_assert(sizeof(T) <= kValueBytes && std::is_trivially_copyable_v<T>);
    Words result{};
    if constexpr (sizeof(T) <= sizeof(std::uint64_t)) {
      std::uint64_t first = 0;
      std::memcpy(&first, &value, sizeof(T));
      result[0] = first;
    } else {
      std::memcpy(result.data(), &value, sizeof(T));
    }
    return result;
  }

  AttributeId id_;
  std::uint32_t pad_;  // the driver's own padding
  Words words_;
};

// How blocks of clusters are spread over the GPU's processing clusters.
enum class ClusterSchedulingPolicy : std::uint32_t { kDefault, kSpread, kLoadBalancing };
enum class MemSyncDomain : std::uint32_t { kDefault, kRemote };
// What the L2 cache does with accesses in a window.
enum class AccessProperty : std::uint32_t { kNormal, kStreaming, kPersisting };
// CUDA 13.2 and later; before, Baton raises the kernel's own opt-in where a launch needs it.
enum class PortableClusterSizeMode : std::uint32_t {
  kDefault,
  kRequirePortable,
  kAllowNonPortable
};
enum class SharedMemoryMode : std::uint32_t {
  kDefault,
  kRequirePortable,
  kAllowNonPortable,
  kAllowOversized,   // CUDA 13.4
  kPreferOversized,  // CUDA 13.4
};

// One function an attribute. They throw kInvalidInput for a value that no device takes; what a
// given device or driver lacks is refused, with the version it needs, by the launch.

// Blocks of a cluster, along each axis; the grid must be divisible by it. Up to 8 blocks on every
// device that has clusters, up to 16 on some: a launch that asks for more than 8 opts in. Written
// is sent, also for (1, 1, 1).
inline LaunchAttribute cluster(Dim3 blocks) {
  return LaunchAttribute(AttributeId::kCluster, std::array{blocks.x, blocks.y, blocks.z});
}
// A larger cluster, a multiple of `cluster` (equal along z), used where the device has room for it.
inline LaunchAttribute preferred_cluster(Dim3 blocks) {
  return LaunchAttribute(AttributeId::kPreferredCluster, std::array{blocks.x, blocks.y, blocks.z});
}
inline LaunchAttribute cluster_scheduling_policy(ClusterSchedulingPolicy policy) {
  return LaunchAttribute(AttributeId::kClusterSchedulingPolicy, static_cast<std::uint32_t>(policy));
}
// Programmatic dependent launch: the grid may start before the one before it in the stream has
// finished. A kernel that reads what that one writes must wait for it (griddepcontrol.wait).
// pdl(false) equals leaving it out.
inline LaunchAttribute pdl(bool allowed = true) {
  return LaunchAttribute(AttributeId::kPdl, std::uint32_t{allowed});
}
// All blocks are resident at once, and may synchronise with each other. cooperative(false) equals
// leaving it out.
inline LaunchAttribute cooperative(bool on = true) {
  return LaunchAttribute(AttributeId::kCooperative, std::uint32_t{on});
}
// Recorded when every block has triggered (griddepcontrol.launch_dependents), or, with
// `at_block_start`, has started. The event must have been made without timing.
BATON_API LaunchAttribute programmatic_event(const Event& event, bool at_block_start = false);
// Recorded when every block has started. The event must have been made without timing.
BATON_API LaunchAttribute launch_completion_event(const Event& event);
// A lower number is a higher priority; the driver clamps it to the device's range.
inline LaunchAttribute priority(int value) {
  return LaunchAttribute(AttributeId::kPriority, value);
}
inline LaunchAttribute mem_sync_domain(MemSyncDomain domain) {
  return LaunchAttribute(AttributeId::kMemSyncDomain, static_cast<std::uint32_t>(domain));
}
// The physical domain that each of the two logical ones stands for; the device has
// CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT of them.
inline LaunchAttribute mem_sync_domain_map(std::uint8_t default_domain,
                                           std::uint8_t remote_domain) {
  return LaunchAttribute(AttributeId::kMemSyncDomainMap, std::array{default_domain, remote_domain});
}
// `bytes` from `base` on are kept in L2 by `hit` for the share `hit_ratio` (0 … 1) of the accesses,
// by `miss` for the rest; `miss` cannot be kPersisting.
BATON_API LaunchAttribute access_policy_window(DeviceAddress base, std::size_t bytes,
                                               float hit_ratio, AccessProperty hit,
                                               AccessProperty miss);
// Shared memory's share, in percent (0 … 100), of the memory that it divides with the L1 cache.
BATON_API LaunchAttribute preferred_shared_memory_carveout(int percent);
inline LaunchAttribute nvlink_util_centric_scheduling(bool on = true) {
  return LaunchAttribute(AttributeId::kNvlinkUtilCentricScheduling, std::uint32_t{on});
}
// In a captured launch: the node can be updated from the device; its handle comes back in the
// LaunchResult.
inline LaunchAttribute device_updatable_node() {
  return LaunchAttribute(AttributeId::kDeviceUpdatableNode, 1);
}
inline LaunchAttribute portable_cluster_size_mode(PortableClusterSizeMode mode) {
  return LaunchAttribute(AttributeId::kPortableClusterSizeMode, static_cast<std::uint32_t>(mode));
}
inline LaunchAttribute shared_memory_mode(SharedMemoryMode mode) {
  return LaunchAttribute(AttributeId::kSharedMemoryMode, static_cast<std::uint32_t>(mode));
}

// The attributes of one launch: a plain value without heap memory, one slot an attribute, in the
// order in which they were first set. Slots that are not used are not even written.
class BATON_API LaunchAttributes {
 public:
  static constexpr std::size_t kCapacity = 20;

  LaunchAttributes() {}  // NOLINT: leaves the slots unwritten
  // As many as there are, each made where it is put: a list would be made first, then copied.
  template <std::same_as<LaunchAttribute>... More>
  LaunchAttributes(const LaunchAttribute& first, const More&... more) {  // NOLINT: implicit
    set(first);
    (set(more), ...);
  }
  LaunchAttributes(const LaunchAttributes& other) { copy(other); }
  LaunchAttributes& operator=(const LaunchAttributes& other) {
    if (this != &other) copy(other);
    return *this;
  }

  // Replaces the attribute of the same id. A flag that is off (pdl(false)) takes its attribute out.
  // Throws kInvalidInput where all slots are taken.
  void set(const LaunchAttribute& attribute) {
    if (is_off(attribute)) return remove(attribute.id());
    std::uint32_t slot = count_;
    if (const LaunchAttribute* old = find(attribute.id())) {
      slot = static_cast<std::uint32_t>(old - slots_);
    }
    if (slot == kCapacity) refuse(attribute);
    slots_[slot] = attribute;
    present_ |= bit(attribute.id());
    if (slot == count_) ++count_;
  }
  void remove(AttributeId id);

  std::span<const LaunchAttribute> all() const { return {slots_, count_}; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // One bit for each id below 31, 1 << id; one, the highest, for all others.
  static constexpr std::uint32_t bit(AttributeId id) {
    const auto number = static_cast<std::uint32_t>(id);
    return 1u << (number < 31 ? number : 31);
  }
  // The bits of all.
  std::uint32_t present() const { return present_; }
  // The attribute, or null.
  const LaunchAttribute* find(AttributeId id) const {
    if ((present_ & bit(id)) == 0) return nullptr;
    for (const LaunchAttribute& attribute : all()) {
      if (attribute.id() == id) return &attribute;
    }
    return nullptr;
  }
  bool has(AttributeId id) const { return find(id) != nullptr; }

  bool pdl() const { return has(AttributeId::kPdl); }
  bool cooperative() const { return has(AttributeId::kCooperative); }
  // Nothing where the attribute is left out.
  std::optional<Dim3> cluster() const;

  friend bool operator==(const LaunchAttributes& a, const LaunchAttributes& b) {
    return std::equal(a.all().begin(), a.all().end(), b.all().begin(), b.all().end());
  }

 private:
  // Whether the value says "as if it were left out".
  static bool is_off(const LaunchAttribute& attribute) {
    return (attribute.id() == AttributeId::kPdl || attribute.id() == AttributeId::kCooperative) &&
           attribute.as<std::uint32_t>() == 0;
  }
  [[noreturn]] static void refuse(const LaunchAttribute& attribute);
  void copy(const LaunchAttributes& other) {
    count_ = other.count_;
    present_ = other.present_;
    if (count_ != 0)
      std::memcpy(static_cast<void*>(slots_), other.slots_, count_ * sizeof(slots_[0]));
  }

  std::uint32_t count_ = 0;
  std::uint32_t present_ = 0;
  LaunchAttribute slots_[kCapacity];
};

}  // namespace baton
