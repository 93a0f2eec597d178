#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "baton/error.h"
#include "baton/finding.h"
#include "tools/draft_kernel.h"

namespace baton::tools {

// Why a trial of a kernel failed.
struct TrialFailure {
  Error error;
  // The first error that the device found and went on: a race, say. The kernel's code has it,
  // whatever the sizes are.
  std::optional<FindingReport> code_error = std::nullopt;
  // Whether the run broke off, or was refused: with other guesses it may go on.
  bool breaks_off = true;
};

// Chooses the first guess of a launch with which the kernel runs to its end, preferably one with
// which it reads only memory that was written. Returns the failure that is left. A race does not
// lead to another guess, which may only hide it.
std::optional<TrialFailure> choose_launch(const KernelFile& file,
                                          const std::filesystem::path& origin, DraftKernel& kernel);

// The comment in the draft about a failure that is left.
std::string remark_about(const TrialFailure& failure, const std::string& kernel,
                         const std::filesystem::path& origin);

}  // namespace baton::tools
