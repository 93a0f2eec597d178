#pragma once

#include <cuda.h>

#include <memory>
#include <span>

#include "sim/engine/report/findings.h"
#include "sim/queue/command.h"

namespace baton::sim {

// What the device's thread does for a command. Each returns CUDA_SUCCESS, or the error that poisons
// the context, with a finding that says why. None of the first three throws.

// Any work but a grid, a setting and the moment of a record, which the queue itself handles.
// `command` is whose work it was.
CUresult execute(Work& work, const Command& command) noexcept;
CUresult begin_grid(Engine& engine, GridLaunch launch, FindingLog& findings,
                    std::unique_ptr<Grid>* grid) noexcept;
CUresult advance_grids(Engine& engine, std::span<Grid* const> grids, std::uint64_t budget,
                       FindingLog& findings, Engine::Advance* done) noexcept;

// The operation touches memory that is no longer there: adds that finding and returns the error.
CUresult freed_meanwhile(const char* operation, const CopySide& place, FindingLog& findings);

}  // namespace baton::sim
