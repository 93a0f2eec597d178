#pragma once

// One place for a kind of step. A kind has one file here: it reads and writes the step, checks
// it against the program's names, and compares two of them. `bind/steps` and `play/steps` have its
// other halves: what it becomes on a tape, and how a tape's step is sent. Every visit of
// ProgramStep::action is exhaustive, so a kind that a room forgets does not compile.

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "baton/program.h"
#include "program/reader/table_reader.h"

namespace baton {

class ProgramScope;
class TomlTable;

// A step in a program file. `what` names it in messages: "step 3.0".
struct StepSource {
  const Document& document;
  const DocumentNode& node;
  const std::string& what;
};

using StepAction = decltype(ProgramStep::action);

struct StepKind {
  std::string_view name;  // the key that makes a table a step of this kind
  // Throws kInvalidInput at the place of what is wrong.
  StepAction (*read)(const StepSource& source);
};

extern const StepKind kLaunchStepKind;
extern const StepKind kCopyStepKind;
extern const StepKind kFillStepKind;
extern const std::array<StepKind, 6> kCollectiveStepKinds;
extern const StepKind kRepeatStepKind;
extern const StepKind kIfStepKind;
extern const StepKind kWhileStepKind;
extern const StepKind kParallelStepKind;

// All kinds, in the order of ProgramStep::action. The collectives are several kinds of one action.
std::span<const StepKind* const> step_kinds();

// Checks a step at `where` against the names that are known there, and resolves text in it. Throws
// kInvalidInput or kNotFound at the place of what is wrong.
void check_step(LaunchStep& step, ProgramScope& scope, const SourceLocation& where);
void check_step(CopyStep& step, ProgramScope& scope, const SourceLocation& where);
void check_step(FillStep& step, ProgramScope& scope, const SourceLocation& where);
void check_step(CollectiveStep& step, ProgramScope& scope, const SourceLocation& where);
void check_step(RepeatStep& step, ProgramScope& scope, const SourceLocation& where);
void check_step(IfStep& step, ProgramScope& scope, const SourceLocation& where);
void check_step(WhileStep& step, ProgramScope& scope, const SourceLocation& where);
void check_step(ParallelStep& step, ProgramScope& scope, const SourceLocation& where);

// Checks the steps of a program or a group in their order.
void check_steps(std::vector<ProgramStep>& steps, ProgramScope& scope);

// Whether two steps are written alike, wherever they are. A NaN is equal to a NaN.
bool equal_steps(const LaunchStep& a, const LaunchStep& b);
bool equal_steps(const CopyStep& a, const CopyStep& b);
bool equal_steps(const FillStep& a, const FillStep& b);
bool equal_steps(const CollectiveStep& a, const CollectiveStep& b);
bool equal_steps(const RepeatStep& a, const RepeatStep& b);
bool equal_steps(const IfStep& a, const IfStep& b);
bool equal_steps(const WhileStep& a, const WhileStep& b);
bool equal_steps(const ParallelStep& a, const ParallelStep& b);

// Adds the keys that the kind's `read` reads as an equal step.
void write_step(const LaunchStep& step, TomlTable& table);
void write_step(const CopyStep& step, TomlTable& table);
void write_step(const FillStep& step, TomlTable& table);
void write_step(const CollectiveStep& step, TomlTable& table);
void write_step(const RepeatStep& step, TomlTable& table);
void write_step(const IfStep& step, TomlTable& table);
void write_step(const WhileStep& step, TomlTable& table);
void write_step(const ParallelStep& step, TomlTable& table);

}  // namespace baton
