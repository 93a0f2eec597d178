#include "cli/command_line/sanitizer_options.h"

namespace baton::cli {
namespace {

struct SanitizerOption {
  std::string_view name;
  std::string_view advice;
};

constexpr SanitizerOption kOptions[] = {
    {"--tool",
     "each run makes the checks of memcheck, racecheck, initcheck and synccheck; leave it out"},
    {"--target-processes", "children are always checked; leave it out"},
    {"--leak-check", "leaks are not looked for; leave it out"},
    {"--check-api-memory-access", "copies and fills are always checked; leave it out"},
    {"--racecheck-report", "each race names both of its accesses; leave it out"},
    {"--racecheck-detect-level", "--warnings-as-errors counts warnings"},
    {"--track-unused-memory", "unused memory is not looked for; leave it out"},
    {"--track-stream-ordered-races",
     "frees in the order of streams are always checked; leave it out"},
    {"--report-api-errors", "errors of calls go to the program alone; leave it out"},
    {"--check-exit-code", "the exit status is the program's, unless that is 0; leave it out"},
    {"--launch-skip", "all launches are checked; --kernel-name chooses kernels"},
    {"--launch-count", "all launches are checked; --kernel-name chooses kernels"},
    {"--kernel-regex", "write --kernel-name REGEX"},
    {"--kernel-name-exclude", "write a table of --suppressions FILE.toml"},
    {"--kernel-regex-exclude", "write a table of --suppressions FILE.toml"},
    {"--print-limit", "equal findings are one line with a count; leave it out"},
    {"--show-backtrace", "findings name lines of kernels, not of the host; leave it out"},
    {"--destroy-on-device-error", "an error ends the context; --keep-going ends the kernel alone"},
    {"--xml", "write --json FILE, --sarif FILE or --junit FILE"},
    {"--save", "write --json FILE"},
};

}  // namespace

std::string_view sanitizer_advice(std::string_view option) {
  for (const SanitizerOption& each : kOptions) {
    if (each.name == option) return each.advice;
  }
  return {};
}

}  // namespace baton::cli
