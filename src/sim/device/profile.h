#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "chip/chip.h"

namespace baton::sim {

// A simulated device: a chip, how many multiprocessors of it there are, memory and a name. It
// answers what the driver reports of it. Immutable, so any thread may read it.
class Profile {
 public:
  struct Row {
    CUdevice_attribute attribute;
    int value;
  };
  // What makes one simulated device.
  struct Product {
    std::string_view name;           // "h200", as users choose it
    std::string_view title;          // "Simulated NVIDIA H200", cuDeviceGetName
    int architecture = 0;            // of a chip that is known
    std::span<const int> sm_groups;  // multiprocessors (SMs) of each group that a cluster can share
    std::uint64_t memory_bytes = 0;
    std::span<const Row> attributes;  // where they differ from those that all devices share
  };

  explicit Profile(const Product& product);

  std::string_view name() const { return product_.name; }
  std::string_view title() const { return product_.title; }
  std::uint64_t memory_bytes() const { return product_.memory_bytes; }
  std::span<const int> sm_groups() const { return product_.sm_groups; }
  const chip::Chip& chip() const { return chip_; }

  // Nothing for an attribute that no chip here knows.
  std::optional<int> attribute(CUdevice_attribute attribute) const;
  // The same where the attribute is known to exist.
  int at(CUdevice_attribute attribute) const { return *values_[attribute]; }
  // 90 for compute capability 9.0.
  int architecture() const { return chip_.architecture; }

 private:
  Product product_;
  const chip::Chip& chip_;
  std::array<std::optional<int>, CU_DEVICE_ATTRIBUTE_MAX> values_{};
};

// The names of all profiles that there are.
std::vector<std::string_view> profile_names();

// The profiles of the visible devices (settings.h); a device's ordinal is its place here. Never
// destroyed.
std::span<const Profile> profiles();

}  // namespace baton::sim
