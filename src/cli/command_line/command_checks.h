#pragma once

#include "cli/command_line/options.h"
#include "cli/command_line/raw_options.h"

namespace baton::cli {

// One function a command: what was written becomes plain, checked values. Each throws kInvalidInput
// with the option and its value. Required arguments are there already.

// The options that several commands have.
ReportFiles checked_reports(const RawOptions& raw);

Command checked_doctor(const RawOptions& raw);
Command checked_init(const RawOptions& raw);
Command checked_run(const RawOptions& raw);
Command checked_check(const RawOptions& raw);
Command checked_bench(const RawOptions& raw);
Command checked_tune(const RawOptions& raw);
Command checked_build(const RawOptions& raw);
Command checked_sign(const RawOptions& raw);
Command checked_compile(const RawOptions& raw);
Command checked_inspect(const RawOptions& raw);
Command checked_explain(const RawOptions& raw);
Command checked_cache(const RawOptions& raw);
Command checked_exec(const RawOptions& raw);
Command checked_record(const RawOptions& raw);
Command checked_ptxas(const RawOptions& raw);
Command checked_toolkit(const RawOptions& raw);
Command checked_completion(const RawOptions& raw);
Command checked_manual(const RawOptions& raw);
Command checked_help(const RawOptions& raw);
Command checked_version(const RawOptions& raw);

}  // namespace baton::cli
