#include "capi/launch_config.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "launch/attribute_table.h"

namespace baton::capi {
namespace {

Dim3 extents(const std::uint32_t (&given)[3]) {
  return Dim3(given[0], given[1], given[2]);
}

// Nothing for a cluster of zeros; else an axis that was left at zero has one block.
std::optional<Dim3> cluster_extents(const std::uint32_t (&given)[3]) {
  if (given[0] == 0 && given[1] == 0 && given[2] == 0) return std::nullopt;
  return Dim3(std::max(given[0], 1u), std::max(given[1], 1u), std::max(given[2], 1u));
}

// "priority", "mem_sync_domain_map.default": every name that an attribute can have.
std::vector<std::string> leaf_names() {
  std::vector<std::string> names;
  for (const launch::AttributeRow& row : launch::attribute_rows()) {
    for (const launch::AttributeField& field : row.fields) {
      names.push_back(field.name.empty() ? std::string(row.name)
                                         : fmt::format("{}.{}", row.name, field.name));
    }
  }
  return names;
}

launch::FieldValue field_value(const baton_attribute& attribute) {
  const baton_value& value = attribute.value;
  switch (value.type) {
    case BATON_TYPE_INT:
    case BATON_TYPE_BOOL:
      return value.as.integer;
    case BATON_TYPE_FLOAT:
      return value.as.real;
    case BATON_TYPE_POINTER:
      return static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value.as.pointer));
    case BATON_TYPE_TEXT:
      if (value.as.text != nullptr) return std::string_view(value.as.text);
      throw error(ErrorCode::kInvalidInput, "the launch attribute {} is a text that is null",
                  attribute.name);
    default:
      throw error(ErrorCode::kInvalidInput,
                  "the launch attribute {} has a value of type {}; it takes BATON_INT, BATON_BOOL, "
                  "BATON_FLOAT, BATON_POINTER or BATON_TEXT",
                  attribute.name, value.type);
  }
}

// The attributes that the caller gives by name, field by field.
class NamedAttributes {
 public:
  void set(std::string_view name, const launch::FieldValue& value) {
    const launch::LeafName leaf = launch::find_leaf(name);
    if (leaf.row == nullptr) {
      throw error(ErrorCode::kInvalidInput, "there is no launch attribute \"{}\"{}",
                  printable(name), suggestion(name, leaf_names()));
    }
    if (!leaf.row->refusal.empty()) {
      throw error(ErrorCode::kInvalidInput, "{} cannot be given to a launch: {}", leaf.row->name,
                  leaf.row->refusal);
    }
    builder(*leaf.row).set(leaf.field, value);
  }

  void build(LaunchAttributes& attributes) const {
    for (const launch::AttributeBuilder& builder : builders_) {
      if (attributes.has(builder.row().id)) {
        throw error(ErrorCode::kInvalidInput, "{} is given by the config and by its attributes",
                    builder.row().name);
      }
      attributes.set(builder.build());
    }
  }

 private:
  launch::AttributeBuilder& builder(const launch::AttributeRow& row) {
    for (launch::AttributeBuilder& known : builders_) {
      if (&known.row() == &row) return known;
    }
    return builders_.emplace_back(row);
  }

  std::vector<launch::AttributeBuilder> builders_;
};

}  // namespace

GivenConfig::GivenConfig(const Call& call, const baton_launch_config* given, const Kernel& kernel) {
  const baton_launch_config from = call.read_required(given, BATON_LAUNCH_CONFIG_INIT, "config");
  config_.grid = extents(from.grid);
  config_.block = extents(from.block);
  config_.shared = from.shared;
  if (from.stream != nullptr) {
    const Stream& on = call.get(from.stream, "config->stream");
    config_.stream = on;
    device_ = &on.device();
    stream_ = from.stream;
  } else {
    device_ = &kernel.device();
  }
  if (const auto blocks = cluster_extents(from.cluster)) config_.attributes.set(cluster(*blocks));
  config_.attributes.set(cooperative(call.flag(from.cooperative, "config->cooperative")));
  if (from.pdl < 0 || from.pdl > BATON_LAUNCH_FORCE_PDL) {
    throw error(ErrorCode::kInvalidInput,
                "{}: config->pdl is {}, it takes 0, 1 or {} (BATON_LAUNCH_FORCE_PDL)",
                call.function(), from.pdl, static_cast<int>(BATON_LAUNCH_FORCE_PDL));
  }
  config_.force_pdl = from.pdl == BATON_LAUNCH_FORCE_PDL;
  config_.attributes.set(pdl(from.pdl != 0));
  const auto attributes = call.array(from.attributes, from.attribute_count, "config->attributes");
  if (attributes.empty()) return;
  NamedAttributes named;
  for (const baton_attribute& attribute : attributes) {
    named.set(call.text(attribute.name, "config->attributes[].name"), field_value(attribute));
  }
  named.build(config_.attributes);
}

}  // namespace baton::capi
