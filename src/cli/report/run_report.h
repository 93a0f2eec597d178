#pragma once

#include <atomic>
#include <filesystem>
#include <optional>
#include <vector>

#include "baton/executable.h"
#include "cli/output/output.h"
#include "tools/measure/comparison.h"

namespace baton::cli {

// What every run on the command line has.
baton::RunOptions timed_options(const std::optional<double>& timeout,
                                const std::atomic<bool>& interrupt);

// How a run went, as tables and as JSON. `error_findings` are left out of the text where the run's
// error carries them as its notes.
void show_program(const Program& program, const std::filesystem::path& file, Output& output);
void show_device(const Device& device, Output& output);
void show_symbols(const std::vector<Executable::BoundSymbol>& symbols, Output& output);
// `in_full`: as a table; else, of a run that did not complete, only how many steps did.
// Nothing where there are none, or one rank.
void show_collectives(const RunReport& report, Output& output);
void show_steps(const RunReport& report, const std::vector<EdgeReport>& edges, Output& output,
                bool in_full = true);
void show_non_finite(const RunReport& report, Output& output);
// A line of standard error, with something before it.
void show_finding(const FindingReport& finding, std::string_view before, Output& output);
void show_findings(const RunReport& report, bool error_findings, Output& output);
void show_warnings(const RunReport& report, Output& output);
// The error with notes that say how each kind of error among the findings is explained.
Error explained(Error failure, const std::vector<FindingReport>& findings);

}  // namespace baton::cli
