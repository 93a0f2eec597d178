#include "program/steps/epilogue.h"

#include <array>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "program/expression/scope.h"
#include "program/reader/argument_reader.h"
#include "program/steps/collective_facts.h"
#include "program/writer/toml_table.h"

// all_reduce = { buffer = "y", add = "x", rms_norm = { weight = "w", epsilon = 1e-5, to = "h" } }

namespace baton {
namespace {

constexpr std::array<std::string_view, 3> kNormKeys = {"weight", "epsilon", "to"};

bool has_kernels(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

const ProgramBuffer& check_operand(const ProgramScope& scope, const BufferOffset& place,
                                   std::string_view key, const ProgramBuffer& buffer) {
  const ProgramBuffer& operand = scope.check(place);
  if (operand.dtype == buffer.dtype) return operand;
  throw error_at(place.where, ErrorCode::kInvalidInput,
                 "{} of the all_reduce of {}: {} is {} and {} is {}; an epilogue does not convert",
                 key, buffer.name, operand.name, to_string(operand.dtype), buffer.name,
                 to_string(buffer.dtype));
}

void check_norm(const RmsNorm& norm, const ProgramBuffer& buffer, const ProgramScope& scope) {
  const ProgramBuffer& weight = check_operand(scope, norm.weight, "weight of rms_norm", buffer);
  if (weight.shape.empty()) {
    throw error_at(norm.weight.where, ErrorCode::kInvalidInput,
                   "weight of rms_norm of the all_reduce of {}: {} has no dimension, and its last "
                   "one is the length of a row",
                   buffer.name, weight.name);
  }
  scope.check_writable(check_operand(scope, norm.to, "to of rms_norm", buffer),
                       "rms_norm of the all_reduce");
  if (!(norm.epsilon >= 0) || !std::isfinite(static_cast<float>(norm.epsilon))) {
    throw error(ErrorCode::kInvalidInput,
                "epsilon of rms_norm of the all_reduce of {} is {}; write a number from 0 that f32 "
                "holds",
                buffer.name, norm.epsilon);
  }
}

auto parts(const RmsNorm& norm) {
  return std::tie(norm.weight, norm.to, norm.epsilon);
}

}  // namespace

void read_epilogue(const TableReader& table, CollectiveStep& step) {
  if (table.find("add") != nullptr) step.add = read_place(table, "add");
  const DocumentNode* const node = table.find("rms_norm");
  if (node == nullptr) return;
  const TableReader inner(table.document(), *node, "rms_norm of " + table.what(), kNormKeys);
  inner.require("weight");
  inner.require("to");
  RmsNorm& norm = step.rms_norm.emplace();
  norm.weight = read_place(inner, "weight");
  norm.to = read_place(inner, "to");
  norm.epsilon = inner.number_of(inner.require("epsilon"), "epsilon");
}

void check_epilogue(const CollectiveStep& step, const ProgramBuffer& buffer, ProgramScope& scope) {
  if (!has_epilogue(step)) return;
  const std::string_view key = step.add ? "add" : "rms_norm";
  if (step.kind != CollectiveKind::kAllReduce || step.op != ReduceOp::kSum) {
    throw error(ErrorCode::kInvalidInput,
                "{} belongs to an all_reduce with op = \"sum\", not to {} {}{}", key,
                facts_of(step.kind).name, buffer.name,
                step.kind == CollectiveKind::kAllReduce
                    ? " with op = \"" + std::string(to_string(step.op)) + "\""
                    : std::string());
  }
  if (!has_kernels(buffer.dtype)) {
    throw error(ErrorCode::kInvalidInput,
                "{} of the all_reduce of {} needs f32, f16 or bf16, and {} is {}", key, buffer.name,
                buffer.name, to_string(buffer.dtype));
  }
  if (step.add) check_operand(scope, *step.add, "add", buffer);
  if (step.rms_norm) check_norm(*step.rms_norm, buffer, scope);
}

bool equal_epilogues(const CollectiveStep& a, const CollectiveStep& b) {
  if (a.add != b.add || a.rms_norm.has_value() != b.rms_norm.has_value()) return false;
  return !a.rms_norm || parts(*a.rms_norm) == parts(*b.rms_norm);
}

void write_epilogue(const CollectiveStep& step, TomlTable& inner) {
  if (step.add) inner.add("add", toml_place(*step.add));
  if (!step.rms_norm) return;
  TomlTable norm;
  norm.add("weight", toml_place(step.rms_norm->weight));
  norm.add("epsilon", toml_float(step.rms_norm->epsilon));
  norm.add("to", toml_place(step.rms_norm->to));
  inner.add("rms_norm", norm.as_value());
}

}  // namespace baton
