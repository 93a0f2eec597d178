#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/executable.h"
#include "baton/program.h"

namespace baton::tools {

// A step of a run as an option names it: by its number in the run ("12"), by its label, which is
// the kernel's name for a launch ("topk"), or by its label and indexes ("topk:layer=2,i=0"). It is
// the first step that fits.
struct StepChoice {
  std::string text;
  std::optional<std::uint64_t> number = {};
  std::string label = {};
  std::vector<std::pair<std::string, std::int64_t>> indexes = {};

  bool fits(const CompletedStep& step) const;
};

// Throws kInvalidInput for indexes that are not NAME=INTEGER. `option` is what messages call it.
StepChoice parse_step_choice(std::string_view option, const std::string& text);

// Throws kNotFound, with the nearest name, for a label or an index that the program does not have.
void check_step_choice(std::string_view option, const StepChoice& choice, const Program& program);

// Throws kNotFound for a step that no run of the program with these symbols comes to. A run whose
// steps depend on conditions, or are very many, is not judged.
void check_step_exists(std::string_view option, const StepChoice& choice, const Program& program,
                       const std::vector<BoundSymbol>& symbols);

}  // namespace baton::tools
