#include <fmt/format.h>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/reader/reader.h"
#include "program/steps/step_kind.h"

namespace baton {
namespace {

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const StepKind* kind : step_kinds()) names.push_back(kind->name);
  return names;
}

// "launch, copy, …, if and while".
std::string known_kinds() {
  std::vector<std::string_view> names = kind_names();
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

// The kind that the step's keys name. Throws where there is none, or more than one.
const StepKind& kind_of(const Document& document, const DocumentNode& node,
                        const std::string& what) {
  const StepKind* chosen = nullptr;
  for (const StepKind* kind : step_kinds()) {
    const DocumentNode* found = node.member(kind->name);
    if (found == nullptr) continue;
    if (chosen != nullptr) {
      throw error_at(document.place(*found), ErrorCode::kInvalidInput,
                     "{} has both {} and {}; a step does one thing", what, chosen->name,
                     kind->name);
    }
    chosen = kind;
  }
  if (chosen != nullptr) return *chosen;
  if (node.members.empty()) {
    throw error_at(document.place(node), ErrorCode::kInvalidInput,
                   "{} is empty: it needs one of {}", what, known_kinds());
  }
  const DocumentNode::Member& first = node.members[0];
  throw error_at(document.place(first), ErrorCode::kInvalidInput, "{} has \"{}\", but none of {}{}",
                 what, printable(first.key), known_kinds(), suggestion(first.key, kind_names()));
}

}  // namespace

std::vector<ProgramStep> read_steps(const Document& document, const DocumentNode& steps,
                                    const std::string& prefix) {
  if (steps.kind != DocumentNode::Kind::kArray) {
    throw error_at(document.place(steps), ErrorCode::kInvalidInput,
                   "steps must be an array of tables, not {}; write [[steps]]",
                   describe(steps.kind));
  }
  std::vector<ProgramStep> result;
  for (const DocumentNode& node : steps.items) {
    const std::string what = prefix + std::to_string(result.size());
    require_table(document, node, what);
    ProgramStep step;
    step.where = document.place(node);
    step.action = kind_of(document, node, what).read({document, node, what});
    result.push_back(std::move(step));
  }
  return result;
}

}  // namespace baton
