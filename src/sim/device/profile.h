#pragma once

#include <cuda.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace baton::sim {

// What the chip of a simulated device reports of itself. Immutable, so any thread may read it.
class Profile {
 public:
  struct Row {
    CUdevice_attribute attribute;
    int value;
  };

  // The values of `base`, with those of `changes` in their place.
  Profile(std::string_view name, std::string_view title, std::uint64_t memory_bytes,
          std::span<const Row> base, std::span<const Row> changes);

  std::string_view name() const { return name_; }    // "h200", as users choose it
  std::string_view title() const { return title_; }  // "Simulated NVIDIA H200", cuDeviceGetName
  std::uint64_t memory_bytes() const { return memory_bytes_; }

  // Nothing for an attribute that no chip here knows.
  std::optional<int> attribute(CUdevice_attribute attribute) const;
  // The same where the attribute is known to exist.
  int at(CUdevice_attribute attribute) const { return *values_[attribute]; }
  // 90 for compute capability 9.0.
  int architecture() const;

 private:
  std::string_view name_;
  std::string_view title_;
  std::uint64_t memory_bytes_;
  std::array<std::optional<int>, CU_DEVICE_ATTRIBUTE_MAX> values_{};
};

// All profiles; a device's ordinal is its place here. Never destroyed.
std::span<const Profile> profiles();

}  // namespace baton::sim
