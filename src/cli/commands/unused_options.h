#pragma once

#include <cstdint>
#include <vector>

#include "baton/check.h"
#include "baton/program.h"
#include "baton/world.h"
#include "cli/command_line/options.h"
#include "cli/commands/check_files.h"
#include "cli/output/output.h"

namespace baton::cli {

// Options that have no effect on a program, whose user would think that they have one.

// Throws kInvalidInput for --collectives where there is nothing to exchange.
void require_collectives(CollectiveExecutor given, const Program& program);

// Warns of a --seed where nothing is random.
void warn_of_seed(std::uint64_t given, const Program& program, Output& output);

// Warns of a --pdl on by which no launch starts early.
void warn_of_pdl(PdlMode given, const Program& program, const std::vector<EdgeReport>& edges,
                 Output& output);

// Warns of options of programs where no file of a check is one, and of a --device that none needs.
void warn_of_unused(const CheckCommand& command, const CheckedFiles& checked, Output& output);

// Warns of the options of `baton build` that are about kernels or buffers which the program lacks.
void warn_of_unused(const BuildCommand& command, const Program& program, Output& output);

}  // namespace baton::cli
