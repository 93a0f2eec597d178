#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "baton/attributes.h"

namespace baton::launch {

// The one table of launch attributes. C++, program files and launch metadata know an attribute by
// its row here: names, layout, what it needs, and what it goes with.

enum class FieldKind : std::uint8_t {
  kFlag,      // 0 or 1
  kUnsigned,  // between `least` and `most`
  kSigned,
  kReal,    // a 32-bit float between `least` and `most`
  kHandle,  // an address or a driver's handle
  kChoice,  // an index into `choices`
};

// One number of an attribute's value.
struct AttributeField {
  std::string_view name{};  // "x"; empty where it is the only one
  FieldKind kind = FieldKind::kUnsigned;
  std::uint8_t offset = 0;  // in bytes, in CUlaunchAttributeValue
  std::uint8_t size = 4;    // in bytes
  double least = 0, most = 0;
  std::span<const std::string_view> choices{};
  bool required = true;  // else `otherwise` where it is left out
  std::int64_t otherwise = 0;
  // The CUdevice_attribute that says how much of it a device has, or 0.
  int device_limit = 0;
  bool below = false;  // it counts from 0, so the value must be below that
  // Of each choice, the driver that it needs where that is a newer one than the row's, or 0.
  std::span<const int> choice_drivers{};
};

// Where an attribute of a captured launch, or of a graph's kernel node, ends up.
enum class GraphUse : std::uint8_t {
  kNode,  // it stays with the node
  kEdge,  // it becomes an edge of the graph
  kNone,  // streams only
};

struct AttributeRow {
  std::string_view name{};  // "cluster": the same in C++, program files and metadata
  AttributeId id{};
  std::span<const AttributeField> fields{};
  int architecture = 0;  // 90: needs compute capability 9.0
  int driver = 0;        // 12040: needs a driver of CUDA 12.4
  GraphUse graph = GraphUse::kNode;
  std::uint32_t conflicts = 0;  // bits of the ids that the driver refuses beside it
  std::uint32_t needs = 0;      // bits of the ids it cannot do without
  std::string_view refusal{};   // why it is not an attribute of launches; empty where it is one
};

constexpr std::uint32_t bit(AttributeId id) {
  return LaunchAttributes::bit(id);
}

// Bits of the attributes that conflict with others, or need others, in their row.
extern const std::uint32_t kCompanyBits;

std::span<const AttributeRow> attribute_rows();
// The row, or null.
const AttributeRow* find_row(AttributeId id);
const AttributeRow* find_row(std::string_view name);

// A value for one field as text formats give it.
using FieldValue = std::variant<std::int64_t, double, std::string_view>;

// The field as an attribute has it: a double of a kReal, else an integer; of a kChoice its number.
FieldValue read_field(const AttributeField& field, const LaunchAttribute& attribute);

// Builds an attribute field by field, each value checked against the table.
class AttributeBuilder {
 public:
  explicit AttributeBuilder(const AttributeRow& row) : row_(&row) {}

  const AttributeRow& row() const { return *row_; }
  // Throws kInvalidInput for a field there is none of, set twice, of the wrong kind or out of
  // range.
  void set(std::string_view field, const FieldValue& value);
  // Throws kInvalidInput where a required field was not set.
  LaunchAttribute build() const;

 private:
  const AttributeRow* row_;
  std::uint32_t given_ = 0;  // bits of fields
  std::array<std::byte, LaunchAttribute::kValueBytes> value_{};
};

// "cluster.x" → the row "cluster" and its field "x"; null where there is none.
struct LeafName {
  const AttributeRow* row = nullptr;
  std::string_view field;
};
LeafName find_leaf(std::string_view leaf);

}  // namespace baton::launch
