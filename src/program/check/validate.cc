#include "program/check/validate.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "base/array/npy_header.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/buffer_init.h"
#include "program/buffer_roles.h"
#include "program/check/missing_folders.h"
#include "program/check/unused_names.h"
#include "program/expression/scope.h"
#include "program/frozen_rows.h"
#include "program/rank_groups.h"
#include "program/steps/step_kind.h"
#include "program/tensor_pattern.h"
#include "program/tune_parameter.h"

namespace baton {
namespace {

void check(const ProgramBuffer& buffer, const ProgramScope& scope) {
  if (buffer.shape.size() > kMaxNpyDimensions) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} has {} dimensions, the most is {}", buffer.name, buffer.shape.size(),
                   kMaxNpyDimensions);
  }
  for (const Expression& extent : buffer.shape) {
    scope.check(
        extent, [&] { return fmt::format("an extent of buffer {}", buffer.name); }, 0);
  }
  check_init(buffer);
  check_shards(buffer, scope);
  if (!buffer.expect.empty() && !facts_of(buffer.role).is_result) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} has expect = \"{}\" and the role {}; {} buffers are compared",
                   buffer.name, buffer.expect.string(), to_string(buffer.role),
                   names_of_roles(&RoleFacts::is_result));
  }
  if ((buffer.init == BufferInit::kFile) != !buffer.file.empty()) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} has init = \"{}\" and file = \"{}\", which do not go together",
                   buffer.name, to_string(buffer.init), buffer.file.string());
  }
  if (buffer.convert && buffer.tensor.empty()) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} has convert = true and no tensor; tensors of .safetensors files are "
                   "converted",
                   buffer.name);
  }
  if (buffer.convert && !is_float(buffer.dtype)) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} has convert = true and the dtype {}; floats are converted to floats",
                   buffer.name, to_string(buffer.dtype));
  }
  if (buffer.tensor.empty()) return;
  if (buffer.file.empty()) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} has tensor = \"{}\" and no file; give it the file = "
                   "\"NAME.safetensors\" that has the tensor",
                   buffer.name, printable(buffer.tensor));
  }
  const TensorPattern pattern(buffer.tensor);
  if (pattern.is_stacked() && buffer.shape.empty()) {
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "buffer {} is a stack of the tensors \"{}\", but has no dimension to stack over",
                   buffer.name, printable(buffer.tensor));
  }
}

// A variable belongs to a known kernel, and to one buffer at most.
void check_variables(const ProgramDefinition& program, const ProgramScope& scope) {
  std::map<std::pair<std::string, std::string>, const ProgramBuffer*> taken;
  for (const ProgramBuffer& buffer : program.buffers) {
    if (!buffer.variable) continue;
    const auto& [kernel, name] = *buffer.variable;
    if (!scope.has_kernel(kernel)) {
      std::vector<std::string_view> known;
      for (const ProgramKernel& other : program.kernels) known.push_back(other.name);
      throw error_at(buffer.where, ErrorCode::kNotFound,
                     "buffer {} is a variable of the unknown kernel \"{}\"{}", buffer.name,
                     printable(kernel), suggestion(kernel, known));
    }
    const auto [found, added] = taken.emplace(std::pair(kernel, name), &buffer);
    if (!added) {
      throw error_at(buffer.where, ErrorCode::kInvalidInput,
                     "the buffers {} and {} are both the variable {} of kernel {}",
                     found->second->name, buffer.name, printable(name), kernel);
    }
  }
}

// What a kernel with one origin has, and one with another has not.
struct OriginPart {
  const char* name;
  bool belongs;
  bool is_there;
};

void check_origin(const ProgramKernel& kernel) {
  using enum KernelOrigin;
  const KernelOrigin origin = kernel.origin;
  const bool is_file = origin != kText && origin < kLink;
  const OriginPart parts[] = {
      {"file", is_file, !kernel.file.empty()},
      {"text", origin == kText, !trim(kernel.text).empty()},
      {"files to link", origin == kLink, !kernel.link.empty()},
      {"image", origin == kImage, kernel.image.has_value()},
      {"result of a compile", origin == kCompiled, kernel.compiled.has_value()},
  };
  for (const auto& [name, belongs, is_there] : parts) {
    if (belongs == is_there) continue;
    throw error_at(kernel.where, ErrorCode::kInvalidInput,
                   "kernel {} has {} {}, and comes as {}; set its origin to what it has",
                   printable(kernel.name), belongs ? "no" : "a", name, to_string(origin));
  }
  if (origin == kSource || origin == kText || origin == kLink) return;
  const char* misplaced = !kernel.prelude.empty()   ? "prelude"
                          : !kernel.include.empty() ? "include"
                          : !kernel.options.empty() ? "options"
                                                    : nullptr;
  if (misplaced == nullptr) return;
  throw error_at(kernel.where, ErrorCode::kInvalidInput,
                 "kernel {} has {}, which is for the compiler, but comes as {}, which is not "
                 "compiled",
                 printable(kernel.name), misplaced, to_string(origin));
}

void check(ProgramKernel& kernel, ProgramScope& scope) {
  if (trim(kernel.name).empty()) {
    throw error_at(kernel.where, ErrorCode::kInvalidInput, "a kernel has an empty name");
  }
  scope.declare(kernel);
  check_origin(kernel);
  scope.check(kernel.launch);
  const bool insists = kernel.rewrite.value_or(RewriteMode::kAuto) > RewriteMode::kAuto;
  const bool is_machine_code = kernel.origin == KernelOrigin::kCubin ||
                               kernel.origin == KernelOrigin::kFatbin ||
                               (kernel.image && kernel.image->kind() != ImageKind::kPtx);
  if (insists && is_machine_code) {
    throw error_at(kernel.where, ErrorCode::kInvalidInput,
                   "kernel {} has rewrite = \"{}\", but comes as {}, and only source and PTX can "
                   "be rewritten; leave it out",
                   printable(kernel.name), to_string(*kernel.rewrite), to_string(kernel.origin));
  }
}

}  // namespace

Validation validate(ProgramDefinition& program) {
  if (trim(program.name).empty()) {
    throw error(ErrorCode::kInvalidInput, "the program's name is empty");
  }
  add_world_symbols(program);
  ProgramScope scope(program);
  for (const ProgramSymbol& symbol : program.symbols) scope.declare(symbol);
  for (const ProgramBuffer& buffer : program.buffers) scope.declare(buffer);
  if (program.world) check_groups(*program.world, scope);
  for (const ProgramBuffer& buffer : program.buffers) {
    located(buffer, [&] { check(buffer, scope); });
  }
  for (const ProgramBuffer& buffer : program.buffers) {
    located(buffer, [&] { check_frozen_rows(buffer, scope); });
  }
  for (const Requirement& requirement : program.requirements) {
    located(requirement, [&] {
      scope.check_names(*requirement.left.code());
      scope.check_names(*requirement.right.code());
    });
  }
  check_tune_parameters(program.tune, program, scope);
  for (ProgramKernel& kernel : program.kernels) located(kernel, [&] { check(kernel, scope); });
  check_variables(program, scope);
  if (program.steps.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "the program {} has no steps; give it a launch, a copy or a fill",
                printable(program.name));
  }
  Validation found;
  if (!program.setup.empty()) {
    // The names of shapes and defaults are met before.
    ProgramScope setup = scope;
    setup.begin_setup();
    check_steps(program.setup, setup);
    found.setup_names = setup.used_names();
    scope.add_used(setup);
  }
  check_steps(program.steps, scope);
  found.warnings = warnings_about(program, scope);
  std::ranges::move(missing_folder_warnings(program), std::back_inserter(found.warnings));
  return found;
}

}  // namespace baton
