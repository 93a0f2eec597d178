#include "baton/attributes.h"

#include <initializer_list>
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

std::int64_t handle(const Event& event) {
  if (event.timing()) {
    throw error(ErrorCode::kInvalidInput,
                "an event that a launch records must be made without timing: "
                "Event(device, false)");
  }
  return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(event.native()));
}

}  // namespace

LaunchAttribute::LaunchAttribute(AttributeId id, const void* value, std::size_t bytes)
    : id_(id), pad_(0), words_{} {
  if (bytes > kValueBytes) {
    throw error(ErrorCode::kInvalidInput, "{} has a value of {} bytes, attributes have at most {}",
                name(), bytes, kValueBytes);
  }
  if (bytes != 0) std::memcpy(words_.data(), value, bytes);
}

std::string LaunchAttribute::name() const {
  const launch::AttributeRow* row = launch::find_row(id_);
  return row != nullptr ? std::string(row->name)
                        : fmt::format("attribute {}", static_cast<std::uint32_t>(id_));
}

LaunchAttribute preferred_shared_memory_carveout(int percent) {
  return build(AttributeId::kPreferredSharedMemoryCarveout, {{"", std::int64_t{percent}}});
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

void LaunchAttributes::refuse(const LaunchAttribute& attribute) {
  throw error(ErrorCode::kInvalidInput, "a launch takes at most {} attributes; {} is one more",
              kCapacity, attribute.name());
}

void LaunchAttributes::remove(AttributeId id) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (slots_[i].id() == id) continue;
    if (kept != i) slots_[kept] = slots_[i];
    ++kept;
  }
  count_ = kept;
  present_ = 0;
  for (const LaunchAttribute& attribute : all()) present_ |= bit(attribute.id());
}

std::optional<Dim3> LaunchAttributes::cluster() const {
  const LaunchAttribute* attribute = find(AttributeId::kCluster);
  if (attribute == nullptr) return std::nullopt;
  const auto blocks = attribute->as<std::array<std::uint32_t, 3>>();
  return Dim3(blocks[0], blocks[1], blocks[2]);
}

}  // namespace baton
