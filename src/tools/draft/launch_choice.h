#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>

#include "tools/draft/draft_kernel.h"
#include "tools/draft/draft_trial.h"

namespace baton::tools {

// Chooses the first guess of a launch with which the kernel runs to its end, preferably one with
// which it reads only memory that was written, and writes all of its outputs. Returns the failure
// that is left. A race does not lead to another guess, which may only hide it. `tells` is called
// with the number of each guess, from 0, before it is tried.
std::optional<TrialFailure> choose_launch(const KernelFile& file,
                                          const std::filesystem::path& origin, DraftKernel& kernel,
                                          const std::function<void(std::size_t guess)>& tells);

}  // namespace baton::tools
