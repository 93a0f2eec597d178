#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

#include "baton/dim3.h"
#include "baton/forward.h"
#include "baton/native.h"
#include "baton/span.h"
#include "baton/stream.h"

namespace baton {

// The launch attributes of the driver, by its own numbers (CUlaunchAttributeID).
enum class AttributeId : std::uint32_t {
  kAccessPolicyWindow = 1,
  kCooperative = 2,
  kSynchronizationPolicy = 3,  // for streams only
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

// One attribute with its value, in the layout of the driver's CUlaunchAttribute, so that a launch
// passes it without a conversion. Bytes that the value does not use are zero. The functions below
// make attributes. For an attribute without a function, use a number and bytes. A plain value.
class BATON_API LaunchAttribute {
 public:
  static constexpr std::size_t kValueBytes = 64;

  // Takes up to 64 bytes of value unchanged; the driver checks them. Throws kInvalidInput for more.
  LaunchAttribute(AttributeId id, const void* value, std::size_t bytes);
  template <typename T>
  LaunchAttribute(AttributeId id, const T& value) : id_(id), pad_(0), words_(words(value)) {}

  AttributeId id() const { return id_; }
  // All kValueBytes of them.
  Span<const std::byte> value() const {
    return {reinterpret_cast<const std::byte*>(words_.data()), kValueBytes};
  }
  // The value's first bytes as a T.
  template <typename T>
  T as() const {
    static_assert(sizeof(T) <= kValueBytes && std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, words_.data(), sizeof(T));
    return value;
  }
  // "cluster"; "attribute 40" for a number that Baton has no row for.
  std::string name() const;

  friend bool operator==(const LaunchAttribute& a, const LaunchAttribute& b) {
    return a.id_ == b.id_ && a.words_ == b.words_;
  }

 private:
  friend class LaunchAttributes;
  LaunchAttribute() {}  // NOLINT: leaves its bytes unwritten, as an unused slot

  // Composed in a register: memory that is written in parts is slow to read as a whole.
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

// How the blocks of a cluster spread over the GPU's processing clusters.
enum class ClusterSchedulingPolicy : std::uint32_t { kDefault, kSpread, kLoadBalancing };
enum class MemSyncDomain : std::uint32_t { kDefault, kRemote };
// The treatment of accesses in a window by the L2 cache.
enum class AccessProperty : std::uint32_t { kNormal, kStreaming, kPersisting };
// CUDA 13.2 and later. With an earlier driver, Baton raises the kernel's own opt-in when a launch
// needs it.
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

// One function for each attribute. A function throws kInvalidInput for a value that no device
// takes. The launch rejects an attribute that its device or driver lacks, and names the required
// version.

// The blocks of a cluster along each axis. The grid must be divisible by them. Every device with
// clusters takes up to 8 blocks, some take up to 16. A launch with more than 8 opts in. The
// attribute is always sent, even for (1, 1, 1).
inline LaunchAttribute cluster(Dim3 blocks) {
  return LaunchAttribute(AttributeId::kCluster, std::array{blocks.x, blocks.y, blocks.z});
}
// A larger cluster, used if the device has room for it: a multiple of `cluster`, equal along z.
inline LaunchAttribute preferred_cluster(Dim3 blocks) {
  return LaunchAttribute(AttributeId::kPreferredCluster, std::array{blocks.x, blocks.y, blocks.z});
}
inline LaunchAttribute cluster_scheduling_policy(ClusterSchedulingPolicy policy) {
  return LaunchAttribute(AttributeId::kClusterSchedulingPolicy, static_cast<std::uint32_t>(policy));
}
// Programmatic dependent launch: the grid may start before the grid before it in the stream has
// completed. A kernel must wait (griddepcontrol.wait) before it reads what that grid writes. A
// launch refuses a kernel whose image says that it never waits, unless LaunchConfig::force_pdl is
// set. pdl(false) equals leaving the attribute out.
inline LaunchAttribute pdl(bool allowed = true) {
  return LaunchAttribute(AttributeId::kPdl, std::uint32_t{allowed});
}
// All blocks are resident at once and may synchronise with each other. cooperative(false) equals
// leaving the attribute out.
inline LaunchAttribute cooperative(bool on = true) {
  return LaunchAttribute(AttributeId::kCooperative, std::uint32_t{on});
}
// Records the event when every block has triggered (griddepcontrol.launch_dependents). With
// `at_block_start` it records the event when every block has started. The event must have no
// timing.
BATON_API LaunchAttribute programmatic_event(const Event& event, bool at_block_start = false);
// Records the event when every block has started. The event must have no timing.
BATON_API LaunchAttribute launch_completion_event(const Event& event);
// A lower number is a higher priority. The driver clamps it to the device's range.
inline LaunchAttribute priority(int value) {
  return LaunchAttribute(AttributeId::kPriority, value);
}
inline LaunchAttribute mem_sync_domain(MemSyncDomain domain) {
  return LaunchAttribute(AttributeId::kMemSyncDomain, static_cast<std::uint32_t>(domain));
}
// The physical domains of the two logical ones. The device has
// CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT physical domains.
inline LaunchAttribute mem_sync_domain_map(std::uint8_t default_domain,
                                           std::uint8_t remote_domain) {
  return LaunchAttribute(AttributeId::kMemSyncDomainMap, std::array{default_domain, remote_domain});
}
// Sets how L2 keeps the `bytes` from `base` on: by `hit` for the share `hit_ratio` (0 … 1) of the
// accesses, by `miss` for the rest. `miss` cannot be kPersisting.
BATON_API LaunchAttribute access_policy_window(DeviceAddress base, std::size_t bytes,
                                               float hit_ratio, AccessProperty hit,
                                               AccessProperty miss);
// Shared memory's part, in percent (0 … 100), of the memory that it divides with the L1 cache.
BATON_API LaunchAttribute preferred_shared_memory_carveout(int percent);
inline LaunchAttribute nvlink_util_centric_scheduling(bool on = true) {
  return LaunchAttribute(AttributeId::kNvlinkUtilCentricScheduling, std::uint32_t{on});
}
// In a captured launch, lets the device update the node. LaunchResult returns its handle.
inline LaunchAttribute device_updatable_node() {
  return LaunchAttribute(AttributeId::kDeviceUpdatableNode, 1);
}
inline LaunchAttribute portable_cluster_size_mode(PortableClusterSizeMode mode) {
  return LaunchAttribute(AttributeId::kPortableClusterSizeMode, static_cast<std::uint32_t>(mode));
}
inline LaunchAttribute shared_memory_mode(SharedMemoryMode mode) {
  return LaunchAttribute(AttributeId::kSharedMemoryMode, static_cast<std::uint32_t>(mode));
}

// The attributes of one launch, one slot each, in the order in which they were first set. A plain
// value without heap memory. Unused slots stay unwritten.
class BATON_API LaunchAttributes {
 public:
  static constexpr std::size_t kCapacity = 20;

  LaunchAttributes() {}  // NOLINT: leaves the slots unwritten
  // Makes each attribute in its slot. An initializer list would be made first and then copied.
  template <typename... More,
            typename = std::enable_if_t<(std::is_same_v<More, LaunchAttribute> && ...)>>
  [[gnu::always_inline]] LaunchAttributes(  // NOLINT: implicit
      const LaunchAttribute& first, const More&... more) {
    set(first);
    (set(more), ...);
  }
  LaunchAttributes(const LaunchAttributes& other) { copy(other); }
  LaunchAttributes& operator=(const LaunchAttributes& other) {
    if (this != &other) copy(other);
    return *this;
  }

  // Replaces the attribute of the same id. A flag that is off (pdl(false)) removes its attribute.
  // Throws kInvalidInput if all slots are in use. Always inline: the id is nearly always a
  // constant, which leaves a few stores of it.
  [[gnu::always_inline]] void set(const LaunchAttribute& attribute) {
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

  Span<const LaunchAttribute> all() const { return {slots_, count_}; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  // One bit for each id below 31 (1 << id), and the highest bit for all others.
  static constexpr std::uint32_t bit(AttributeId id) {
    const auto number = static_cast<std::uint32_t>(id);
    return 1u << (number < 31 ? number : 31);
  }
  // The bits of all attributes.
  std::uint32_t present() const { return present_; }
  // The attribute, or null if it is absent.
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
  // Empty if the attribute is absent.
  std::optional<Dim3> cluster() const;

  friend bool operator==(const LaunchAttributes& a, const LaunchAttributes& b) {
    return std::equal(a.all().begin(), a.all().end(), b.all().begin(), b.all().end());
  }

 private:
  // Whether the value equals leaving the attribute out.
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
