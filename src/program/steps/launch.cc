#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "base/text/text.h"
#include "program/attributes.h"
#include "program/check/argument_check.h"
#include "program/expression/scope.h"
#include "program/reader/argument_reader.h"
#include "program/reader/attribute_reader.h"
#include "program/steps/step_kind.h"
#include "program/writer/argument_writer.h"
#include "program/writer/toml_table.h"

// launch = "saxpy", with grid, block, args and every attribute.

namespace baton {
namespace {

std::span<const std::string_view> launch_keys() {
  static const std::vector<std::string_view> keys = [] {
    std::vector<std::string_view> all = {
        "launch", "grid", "block", "args", "programmatic_event", "launch_completion_event",
        "after"};
    all.insert(all.end(), attribute_keys().begin(), attribute_keys().end());
    return all;
  }();
  return keys;
}

std::string read_event(const TableReader& table, std::string_view key) {
  std::string name = table.string(key).value_or("");
  if (const DocumentNode* node = table.find(key); node != nullptr && name.empty()) {
    table.refuse(*node, key, "the name of an event");
  }
  return name;
}

StepAction read_launch(const StepSource& source) {
  const TableReader table(source.document, source.node, source.what, launch_keys());
  LaunchStep step;
  step.kernel = table.required_string("launch");
  table.require("grid");
  step.grid = table.expressions("grid", 1, 3);
  step.block = table.expressions("block", 1, 3);
  if (const DocumentNode* args = table.find("args")) {
    if (args->kind != DocumentNode::Kind::kArray) {
      table.refuse(*args, "args", "an array of arguments");
    }
    step.args.reserve(args->items.size());
    for (const DocumentNode& item : args->items) {
      step.args.push_back(
          read_argument(source.document, item, {"argument", step.args.size(), source.what}));
    }
  }
  step.attributes = read_attributes(table);
  step.programmatic_event = read_event(table, "programmatic_event");
  step.launch_completion_event = read_event(table, "launch_completion_event");
  step.after = table.strings("after");
  return step;
}

void check_extents(const LaunchStep& step, const std::vector<Expression>& extents, const char* what,
                   const ProgramScope& scope) {
  if (extents.size() > 3) {
    throw error(ErrorCode::kInvalidInput, "the {} has {} extents, the most is 3", what,
                extents.size());
  }
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    scope.check(
        extents[axis],
        [&] {
          return fmt::format("{}.{} of the launch of {}", what, "xyz"[axis],
                             printable(step.kernel));
        },
        1);
  }
}

auto parts(const LaunchStep& step) {
  return std::tie(step.kernel, step.grid, step.block, step.args, step.attributes,
                  step.programmatic_event, step.launch_completion_event, step.after);
}

}  // namespace

const StepKind kLaunchStepKind = {"launch", read_launch};

void check_step(LaunchStep& step, ProgramScope& scope, const SourceLocation& where) {
  scope.check_kernel(step.kernel, where);
  if (step.grid.empty()) {
    throw error(ErrorCode::kInvalidInput, "the launch of {} has no grid", printable(step.kernel));
  }
  check_extents(step, step.grid, "grid", scope);
  check_extents(step, step.block, "block", scope);
  for (LaunchArgument& argument : step.args) {
    located(argument, [&] { check_argument(argument, scope); });
  }
  scope.check(step.attributes);
  for (const std::string* event : {&step.programmatic_event, &step.launch_completion_event}) {
    if (!event->empty()) scope.record_event(*event, where);
  }
  for (std::size_t i = 0; i < step.after.size(); ++i) {
    if (std::find(step.after.begin(), step.after.begin() + i, step.after[i]) !=
        step.after.begin() + i) {
      throw error_at(where, ErrorCode::kInvalidInput, "after names the event {} twice",
                     printable(step.after[i]));
    }
    scope.check_event(step.after[i], where);
  }
}

bool equal_steps(const LaunchStep& a, const LaunchStep& b) {
  return parts(a) == parts(b);
}

void write_step(const LaunchStep& step, TomlTable& table) {
  table.add("launch", toml_string(step.kernel));
  table.add("grid", toml_expressions(step.grid));
  table.add_if("block", step.block);
  std::string args;
  for (const LaunchArgument& argument : step.args) {
    args += (args.empty() ? "" : ", ") + toml_argument(argument);
  }
  table.add("args", "[" + args + "]");
  write_attributes(step.attributes, table);
  if (!step.programmatic_event.empty()) {
    table.add("programmatic_event", toml_string(step.programmatic_event));
  }
  if (!step.launch_completion_event.empty()) {
    table.add("launch_completion_event", toml_string(step.launch_completion_event));
  }
  table.add_if("after", step.after);
}

}  // namespace baton
