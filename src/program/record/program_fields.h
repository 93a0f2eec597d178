#pragma once

#include <concepts>
#include <type_traits>

#include "baton/program.h"

namespace baton {

// Every field of every part of a program, by name and in one order: what writes, reads or lists a
// definition visits them here. `archive.field(name, value)` meets what a program file says, and
// `archive.in_memory(name, value)` what no program file can say. A part that gets another field
// does not compile before it stands here: its fields are named by a structured binding. Another
// field, another order or another value of an enumeration makes kProgramRecordVersion one more.

// A part, constant or not.
template <typename T, typename Part>
concept PartOf = std::same_as<std::remove_const_t<T>, Part>;

void fields(auto& archive, PartOf<BufferOffset> auto& place) {
  auto& [buffer, offset, where] = place;
  archive.field("buffer", buffer);
  archive.field("offset", offset);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<TypedValue> auto& typed) {
  auto& [dtype, value] = typed;
  archive.field("dtype", dtype);
  archive.field("value", value);
}

void fields(auto& archive, PartOf<RawBytes> auto& raw) {
  auto& [bytes] = raw;
  archive.field("bytes", bytes);
}

void fields(auto& archive, PartOf<TensorMapArgument> auto& map) {
  auto& [buffer, shape, strides, box, element_strides, type, interleave, swizzle, l2_promotion,
         oob_fill] = map;
  archive.field("buffer", buffer);
  archive.field("shape", shape);
  archive.field("strides", strides);
  archive.field("box", box);
  archive.field("element_strides", element_strides);
  archive.field("type", type);
  archive.field("interleave", interleave);
  archive.field("swizzle", swizzle);
  archive.field("l2_promotion", l2_promotion);
  archive.field("oob_fill", oob_fill);
}

void fields(auto& archive, PartOf<BufferView> auto& view) {
  auto& [place, count] = view;
  archive.field("place", place);
  archive.field("count", count);
}

void fields(auto& archive, PartOf<StructArgument> auto& argument) {
  auto& [members] = argument;
  archive.field("fields", members);
}

void fields(auto& archive, PartOf<LaunchArgument> auto& argument) {
  auto& [value, where] = argument;
  archive.field("value", value);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<ProgramSymbol> auto& symbol) {
  auto& [name, value, where, of_world] = symbol;
  archive.field("name", name);
  archive.field("value", value);
  archive.field("where", where);
  archive.field("of_world", of_world);
}

void fields(auto& archive, PartOf<WorldGroup> auto& group) {
  auto& [name, size, where] = group;
  archive.field("name", name);
  archive.field("size", size);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<ProgramWorld> auto& world) {
  auto& [ranks, where, groups] = world;
  archive.field("ranks", ranks);
  archive.field("where", where);
  archive.field("groups", groups);
}

void fields(auto& archive, PartOf<Requirement> auto& requirement) {
  auto& [name, left, relation, right, where] = requirement;
  archive.field("name", name);
  archive.field("left", left);
  archive.field("relation", relation);
  archive.field("right", right);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<TuneParameter> auto& parameter) {
  auto& [symbol, values, where] = parameter;
  archive.field("symbol", symbol);
  archive.field("values", values);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<ModuleVariable> auto& variable) {
  auto& [kernel, name] = variable;
  archive.field("kernel", kernel);
  archive.field("name", name);
}

void fields(auto& archive, PartOf<FrozenRows> auto& frozen) {
  auto& [counter, element, axis, where] = frozen;
  archive.field("counter", counter);
  archive.field("element", element);
  archive.field("axis", axis);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<BufferShard> auto& shard) {
  auto& [axis, group, where] = shard;
  archive.field("axis", axis);
  archive.field("group", group);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<ProgramBuffer> auto& buffer) {
  auto& [name, dtype, shape, role, init, deviation, low, high, file, tensor, convert, contents,
         content_shards, variable, frozen, shards, expect, where] = buffer;
  archive.field("name", name);
  archive.field("dtype", dtype);
  archive.field("shape", shape);
  archive.field("role", role);
  archive.field("init", init);
  archive.field("deviation", deviation);
  archive.field("low", low);
  archive.field("high", high);
  archive.field("file", file);
  archive.field("tensor", tensor);
  archive.field("convert", convert);
  archive.in_memory("contents", contents);
  archive.in_memory("content_shards", content_shards);
  archive.field("variable", variable);
  archive.field("frozen", frozen);
  archive.field("shards", shards);
  archive.field("expect", expect);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<AttributeValue> auto& part) {
  auto& [field, value, where] = part;
  archive.field("field", field);
  archive.field("value", value);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<ProgramAttribute> auto& attribute) {
  auto& [name, values, where] = attribute;
  archive.field("name", name);
  archive.field("values", values);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<ProgramAttributes> auto& attributes) {
  auto& [shared, pdl, placement, sms, flops, list, pdl_where] = attributes;
  archive.field("shared", shared);
  archive.field("pdl", pdl);
  archive.field("placement", placement);
  archive.field("sms", sms);
  archive.field("flops", flops);
  archive.field("list", list);
  archive.field("pdl_where", pdl_where);
}

void fields(auto& archive, PartOf<ProgramKernel> auto& kernel) {
  auto& [name, origin, file, text, link, image, compiled, entry, prelude, include, options, launch,
         rewrite, where] = kernel;
  archive.field("name", name);
  archive.field("origin", origin);
  archive.field("file", file);
  archive.field("text", text);
  archive.field("link", link);
  archive.in_memory("image", image);
  archive.in_memory("compiled", compiled);
  archive.field("entry", entry);
  archive.field("prelude", prelude);
  archive.field("include", include);
  archive.field("options", options);
  archive.field("launch", launch);
  archive.field("rewrite", rewrite);
  archive.field("where", where);
}

void fields(auto& archive, PartOf<LaunchStep> auto& step) {
  auto& [kernel, grid, block, args, attributes, programmatic_event, launch_completion_event,
         after] = step;
  archive.field("kernel", kernel);
  archive.field("grid", grid);
  archive.field("block", block);
  archive.field("args", args);
  archive.field("attributes", attributes);
  archive.field("programmatic_event", programmatic_event);
  archive.field("launch_completion_event", launch_completion_event);
  archive.field("after", after);
}

void fields(auto& archive, PartOf<CopyStep> auto& step) {
  auto& [from, to, count] = step;
  archive.field("from", from);
  archive.field("to", to);
  archive.field("count", count);
}

void fields(auto& archive, PartOf<FillStep> auto& step) {
  auto& [buffer, value] = step;
  archive.field("buffer", buffer);
  archive.field("value", value);
}

void fields(auto& archive, PartOf<RmsNorm> auto& norm) {
  auto& [weight, to, epsilon] = norm;
  archive.field("weight", weight);
  archive.field("to", to);
  archive.field("epsilon", epsilon);
}

void fields(auto& archive, PartOf<CollectiveStep> auto& step) {
  auto& [kind, buffer, to, op, peer, count, group, by, add, rms_norm] = step;
  archive.field("kind", kind);
  archive.field("buffer", buffer);
  archive.field("to", to);
  archive.field("op", op);
  archive.field("peer", peer);
  archive.field("count", count);
  archive.field("group", group);
  archive.field("by", by);
  archive.field("add", add);
  archive.field("rms_norm", rms_norm);
}

void fields(auto& archive, PartOf<RepeatStep> auto& step) {
  auto& [count, index, steps] = step;
  archive.field("count", count);
  archive.field("index", index);
  archive.field("steps", steps);
}

void fields(auto& archive, PartOf<IfStep> auto& step) {
  auto& [buffer, steps] = step;
  archive.field("buffer", buffer);
  archive.field("steps", steps);
}

void fields(auto& archive, PartOf<WhileStep> auto& step) {
  auto& [buffer, at_most, unroll, steps] = step;
  archive.field("buffer", buffer);
  archive.field("at_most", at_most);
  archive.field("unroll", unroll);
  archive.field("steps", steps);
}

void fields(auto& archive, PartOf<ParallelStep> auto& step) {
  auto& [branches] = step;
  archive.field("branches", branches);
}

void fields(auto& archive, PartOf<ProgramStep> auto& step) {
  auto& [action, where] = step;
  archive.field("action", action);
  archive.field("where", where);
}

// `file`, `text` and `directory` are what a definition is read from, and no parts of it.
void fields(auto& archive, PartOf<ProgramDefinition> auto& program) {
  auto& [name, file, text, directory, included, world, symbols, requirements, tune, buffers,
         kernels, setup, steps] = program;
  archive.field("name", name);
  archive.field("included", included);
  archive.field("world", world);
  archive.field("symbols", symbols);
  archive.field("requirements", requirements);
  archive.field("tune", tune);
  archive.field("buffers", buffers);
  archive.field("kernels", kernels);
  archive.field("setup", setup);
  archive.field("steps", steps);
}

// A part that has fields.
class AnyArchive;
template <typename T>
concept PartWithFields = requires(AnyArchive& archive, T& part) {
  fields(archive, part);
};

}  // namespace baton
