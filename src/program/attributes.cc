#include "program/attributes.h"

#include <array>

namespace baton {
namespace {

constexpr std::array<AttributeName, 16> kAttributes = {{
    {"shared", true, false},
    {"cluster", true, false},
    {"pdl", true, false},
    {"cooperative", false, true},
    {"preferred_cluster", false, false},
    {"cluster_scheduling_policy", false, false},
    {"programmatic_stream_serialization", false, true},
    {"programmatic_event", false, false},
    {"launch_completion_event", false, false},
    {"priority", false, false},
    {"mem_sync_domain", false, false},
    {"mem_sync_domain_map", false, false},
    {"access_policy_window", false, false},
    {"preferred_shared_memory_carveout", false, false},
    {"nvlink_util_centric_scheduling", false, true},
    {"portable_cluster_size_mode", false, false},
}};

}  // namespace

std::span<const AttributeName> launch_attributes() {
  return kAttributes;
}

const AttributeName* find_attribute(std::string_view name) {
  for (const AttributeName& attribute : kAttributes) {
    if (attribute.name == name) return &attribute;
  }
  return nullptr;
}

}  // namespace baton
