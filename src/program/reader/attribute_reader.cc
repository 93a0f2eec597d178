#include "program/reader/attribute_reader.h"

#include <utility>

#include "base/error.h"
#include "program/attributes.h"
#include "program/names.h"

namespace baton {
namespace {

using Kind = DocumentNode::Kind;

// One value of an attribute: only tables and arrays have no meaning in it.
AttributeValue read_attribute_value(const Document& document, const DocumentNode& node,
                                    const std::string& field, const std::string& what) {
  switch (node.kind) {
    case Kind::kString:
      return {field, node.string, document.content_place(node)};
    case Kind::kInteger:
      return {field, Expression(std::to_string(node.integer), document.place(node)),
              document.place(node)};
    case Kind::kFloat:
      return {field, node.real, document.place(node)};
    case Kind::kBool:
      return {field, node.integer != 0, document.place(node)};
    default:
      throw error_at(document.place(node), ErrorCode::kInvalidInput,
                     "{} must be a string, a number or a boolean, not {}", what,
                     describe(node.kind));
  }
}

// cluster = [2, 1], mem_sync_domain_map = { default = 0, remote = 1 }, cooperative = true: extents
// are an array, other attributes of several fields a table.
ProgramAttribute read_attribute(const Document& document, const DocumentNode::Member& member,
                                const launch::AttributeRow& row, const std::string& owner) {
  ProgramAttribute attribute{.name = member.key, .values = {}, .where = document.place(member)};
  const DocumentNode& node = member.value;
  const std::string what = fmt::format("{} of {}", member.key, owner);
  const bool extents = row.fields.size() == 3 && row.fields[0].name == "x";
  const auto refuse = [&](std::string_view wanted) {
    throw error_at(document.place(node), ErrorCode::kInvalidInput, "{} must be {}, not {}", what,
                   wanted, describe(node.kind));
  };
  if (row.fields.size() == 1) {
    attribute.values.push_back(read_attribute_value(document, node, "", what));
  } else if (extents) {
    if (node.kind == Kind::kInteger || node.kind == Kind::kString) {
      attribute.values.push_back(read_attribute_value(document, node, "", what));
      return attribute;
    }
    if (node.kind != Kind::kArray) refuse("an expression or an array of expressions");
    if (node.items.empty() || node.items.size() > row.fields.size()) {
      throw error_at(document.place(node), ErrorCode::kInvalidInput,
                     "{} must have 1 to {} extents, not {}", what, row.fields.size(),
                     node.items.size());
    }
    for (const DocumentNode& item : node.items) {
      attribute.values.push_back(read_attribute_value(document, item, "", what));
    }
  } else {
    if (node.kind != Kind::kTable) refuse("a table of its fields");
    for (const auto& [key, line, column, value] : node.members) {
      const std::string field = fmt::format("{}.{}", member.key, key);
      attribute.values.push_back(read_attribute_value(document, value, key, field));
    }
  }
  return attribute;
}

}  // namespace

ProgramAttributes read_attributes(const TableReader& table) {
  ProgramAttributes attributes;
  attributes.shared = table.expression("shared");
  if (const auto mode = table.choice("pdl", kPdlNames)) {
    attributes.pdl = static_cast<PdlMode>(*mode);
    attributes.pdl_where = table.document().place(*table.find("pdl"));
  }
  if (const auto placement = table.choice("placement", kPlacementNames)) {
    attributes.placement = static_cast<BlockPlacement>(*placement);
  }
  attributes.sms = table.expression("sms");
  attributes.flops = table.expression("flops");
  for (const DocumentNode::Member& member : table.table().members) {
    const launch::AttributeRow* row = launch::find_row(member.key);
    if (row == nullptr || is_event(*row)) continue;
    attributes.list.push_back(read_attribute(table.document(), member, *row, table.what()));
  }
  return attributes;
}

}  // namespace baton
