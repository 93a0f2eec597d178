#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/program.h"
#include "launch/attribute_table.h"

namespace baton {

// Launch attributes as programs know them: the launch room's table, less what needs an event, a
// stream or a graph node of the caller's. Sizes and values are checked against the table's rows.

// Whether the attribute records an event, which is a key of launch steps alone: they name the
// event.
bool is_event(const launch::AttributeRow& row);

// What may stand among a launch's attributes: "shared", "pdl", "placement", and every row's name
// but those of events.
std::span<const std::string_view> attribute_keys();

// What a program calls a field: the table's name, but "buffer" for an address, which no program can
// write down.
std::string_view field_name(const launch::AttributeField& field);

// The row of an attribute of a program, and a field in it; they have been checked.
const launch::AttributeRow& attribute_row(const ProgramAttribute& attribute);
const launch::AttributeField& attribute_field(const launch::AttributeRow& row,
                                              std::string_view name);

// What a field of an attribute is set to.
launch::FieldValue read_field(const LaunchAttribute& attribute,
                              const launch::AttributeField& field);

// Whether it says the same as leaving it out: a flag that is off.
bool is_off(const ProgramAttribute& attribute);

// What an attribute's text refers to is for the program to say.
struct AttributeNames {
  std::function<void(const Expression&)> check_expression;
  std::function<void(const BufferOffset&)> check_buffer;
};

// Checks every attribute as far as that is possible without the symbols' values, turns text into
// what it stands for, gives every value the name of its field, and sorts them by number. Throws
// kInvalidInput or kNotFound at the value's or the attribute's place.
void resolve_attributes(std::vector<ProgramAttribute>& list, const AttributeNames& names);

}  // namespace baton
