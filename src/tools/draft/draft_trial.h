#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "baton/error.h"
#include "baton/finding.h"
#include "tools/draft/draft_kernel.h"

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

// One run of a kernel alone.
struct Trial {
  std::optional<TrialFailure> failure;
  // Whether the kernel read memory that nothing wrote: a sign of a block that is too small for its
  // shared memory, and no error.
  bool reads_unwritten = false;
  // Whether it left more of an output as it was than borders take: a sign of too small a block.
  bool leaves_out = false;

  bool breaks_off() const { return failure && failure->breaks_off; }
  // Whether it broke off at an access outside of the buffers.
  bool is_outside = false;
  // The instructions of its warps, the same on every machine.
  std::uint64_t instructions = 0;
};

// Runs the kernel with its guessed launch on the simulated GPU. `elements`: the size along an axis.
// `limit`: of the time that processors work for it. What else the machine does has no part in that.
Trial try_kernel(const KernelFile& file, const std::filesystem::path& origin,
                 const DraftKernel& kernel, std::int64_t elements, std::chrono::seconds limit);

// The comment in the draft about a failure that is left.
std::string remark_about(const TrialFailure& failure, const std::string& kernel,
                         const std::filesystem::path& origin);

}  // namespace baton::tools
