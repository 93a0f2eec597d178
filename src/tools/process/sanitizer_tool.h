#pragma once

#include <span>
#include <string_view>

#include "tools/process/exec_report.h"

namespace baton::tools {

// A tool of compute-sanitizer, by what it looks for.
enum class SanitizerTool { kMemcheck, kRacecheck, kInitcheck, kSynccheck };

// Their names, in the order of the enumerators.
std::span<const std::string_view> sanitizer_tools();

// Leaves the findings that the tool looks for, and faults: a fault ends what the tool would look
// at. As with the tool, a read of memory that was never written is an error for initcheck. Counts
// what it left out.
void keep_findings_of(SanitizerTool tool, ExecReport& report);

}  // namespace baton::tools
