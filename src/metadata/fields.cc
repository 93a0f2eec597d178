#include "metadata/fields.h"

#include <deque>
#include <string>

namespace baton::metadata {
namespace {

constexpr Field kGeometry[] = {
    {"grid.x", Field::Place::kGrid, 0},
    {"grid.y", Field::Place::kGrid, 1},
    {"grid.z", Field::Place::kGrid, 2},
    {"block.x", Field::Place::kBlock, 0},
    {"block.y", Field::Place::kBlock, 1},
    {"block.z", Field::Place::kBlock, 2},
    {"dynamic_smem_bytes", Field::Place::kShared},
    {"stream", Field::Place::kStream},
};

struct FieldTable {
  std::deque<std::string> names;  // of fields that have none in one piece
  std::vector<Field> fields{std::begin(kGeometry), std::end(kGeometry)};

  FieldTable() {
    for (const launch::AttributeRow& row : launch::attribute_rows()) {
      if (!row.refusal.empty()) continue;
      for (const launch::AttributeField& field : row.fields) {
        std::string_view name = row.name;
        if (!field.name.empty()) {
          name = names.emplace_back(std::string(row.name) + '.' + std::string(field.name));
        }
        fields.push_back({name, Field::Place::kAttribute, 0, &row, field.name});
      }
    }
  }
};

const FieldTable& table() {
  static const FieldTable fields;
  return fields;
}

}  // namespace

const Field* find_field(std::string_view name) {
  for (const Field& field : table().fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

std::vector<std::string_view> field_names() {
  std::vector<std::string_view> names;
  for (const Field& field : table().fields) names.push_back(field.name);
  return names;
}

}  // namespace baton::metadata
