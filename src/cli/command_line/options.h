#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "baton/executable.h"
#include "baton/program.h"
#include "baton/races.h"
#include "baton/schedule.h"
#include "tools/draft/library_program.h"
#include "tools/file/program_arrays.h"
#include "tools/file/trust.h"
#include "tools/measure/comparison.h"
#include "tools/process/exec_environment.h"
#include "tools/process/sanitizer_tool.h"
#include "tools/step_choice.h"

namespace baton::cli {

// What the command line asked for, checked as far as that is possible without opening a file: plain
// values, one struct a command. docs/cli.md says what each option means.

using tools::Assignment;

// Files of a report in formats of others, written whatever the command ends with.
struct ReportFiles {
  std::optional<std::filesystem::path> sarif, junit;
};

// What a timeline is made of.
enum class TraceSource { kDevice, kKernels };

// Elements of a buffer that are shown as runs add them.
struct Followed {
  std::string buffer;
  std::string counter;  // its first element and `more` are how many elements are there
  std::int64_t more = 0;
  std::optional<std::uint64_t> runs;  // at most; empty: until one adds nothing
};

struct DoctorCommand {
  bool json = false;
};

struct RunCommand {
  bool json = false;
  bool verbose = false;  // lists the steps of a run that faulted
  bool strict = false;   // a warning is status 1
  std::filesystem::path program;
  std::optional<tools::LibraryCall> call;  // `program` is a library then
  std::optional<std::string> device;
  std::vector<std::string> devices;  // one for each rank, in this process; empty: one rank
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  tools::TrustedFiles trusted;
  std::vector<Assignment> inputs;
  std::vector<Assignment> outputs;
  tools::ExpectedFiles expected;
  std::optional<double> rtol;
  std::optional<double> atol;
  std::uint64_t repeat = 1;
  std::uint64_t seed = 0;
  std::optional<double> timeout;  // seconds
  std::optional<std::filesystem::path> keep;
  ExecutorKind executor = ExecutorKind::kStream;
  PdlMode pdl = PdlMode::kAuto;        // of the steps that say auto
  std::optional<RewriteMode> rewrite;  // of the kernels that say nothing
  CollectiveExecutor collectives = CollectiveExecutor::kAuto;
  bool fixed_executor = false;  // a tuned record does not choose it
  bool untuned = false;         // no tuned record is used
  std::optional<Schedule> schedule;
  std::vector<Schedule> schedules;  // under which the run is compared with the first of them
  Races races = Races::kUsual;
  std::optional<std::filesystem::path> trace;
  std::optional<TraceSource> trace_by;  // nothing: what the device has
  std::optional<std::filesystem::path> html;
  std::optional<std::filesystem::path> dump;
  std::optional<tools::StepChoice> until;
  std::optional<Followed> follow;
  bool find_non_finite = false;
  ReportFiles reports;
};

struct CheckCommand {
  bool json = false;
  bool strict = false;
  bool verbose = false;  // lists all launches and edges
  tools::TrustedFiles trusted;
  // Programs, anything that holds images, folders of these.
  std::vector<std::filesystem::path> files;
  std::optional<std::string> device;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  PdlMode pdl = PdlMode::kAuto;
  std::optional<RewriteMode> rewrite;
  CollectiveExecutor collectives = CollectiveExecutor::kAuto;
  ReportFiles reports;
};

struct BenchCommand {
  bool json = false;
  tools::TrustedFiles trusted;
  bool strict = false;
  std::filesystem::path program;
  std::optional<std::filesystem::path> other;  // compared with the first
  std::optional<std::filesystem::path> baseline;
  std::optional<double> limit;  // percent
  std::optional<std::filesystem::path> plot;
  std::optional<std::string> device;
  std::vector<std::string> devices;  // one for each rank, in this process; empty: one rank
  CollectiveExecutor collectives = CollectiveExecutor::kAuto;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::vector<Assignment> inputs;
  std::optional<std::uint64_t> repeat;  // as many as take some seconds
  std::uint64_t seed = 0;
  std::optional<double> timeout;  // seconds, of each pass of all runs
  ExecutorKind executor = ExecutorKind::kStream;
  PdlMode pdl = PdlMode::kAuto;
  std::optional<RewriteMode> rewrite;
  bool fixed_executor = false;  // a tuned record does not choose it
  bool untuned = false;         // no tuned record is used
};

struct TuneCommand {
  bool json = false;
  bool strict = false;
  tools::TrustedFiles trusted;
  std::filesystem::path program;
  std::optional<std::filesystem::path> output;  // a bundle with the record
  std::optional<std::string> device;
  std::vector<std::string> devices;  // one for each rank; empty: no ranks in this process
  CollectiveExecutor collectives = CollectiveExecutor::kAuto;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::vector<Assignment> inputs;
  std::uint64_t seed = 0;
  std::optional<double> timeout;         // seconds, of each run
  std::optional<ExecutorKind> executor;  // empty: tuned too
  double budget = 20;                    // seconds
  std::optional<std::string> tune_with;  // a shell's command that runs and measures a variant
  std::optional<std::filesystem::path> plot;
};

struct BuildCommand {
  bool json = false;
  std::filesystem::path program;
  std::filesystem::path output;
  std::vector<std::string> architectures;  // empty: of the device that `run` would take
  bool sources = true;
  bool weights = false;
  std::optional<std::filesystem::path> key = {};          // to sign it with
  std::optional<std::filesystem::path> tvm_library = {};  // the same as a library for tvm-ffi
  // Values to judge edges for, beside the defaults.
  std::vector<std::pair<std::string, std::int64_t>> symbols = {};
};

struct SignCommand {
  bool json = false;
  std::filesystem::path bundle;
  std::filesystem::path key;
  std::filesystem::path output;  // may be the bundle itself
};

struct ExplainCommand {
  bool json = false;
  std::string code;  // empty: all
};

struct InitCommand {
  bool json = false;
  std::filesystem::path file;                   // a source or an image
  std::optional<std::filesystem::path> output;  // empty: the file's name, with .toml
  std::string arch;                             // empty: that of the simulated H200
  std::vector<std::string> entries;
  bool reference = false;  // also a NumPy reference to fill in
};

struct CompileCommand {
  bool json = false;
  std::filesystem::path source;
  std::optional<std::filesystem::path> output;
  std::string arch;    // empty: of the device that `run` would take
  bool ptx = false;    // write PTX
  bool cubin = false;  // write machine code
  std::vector<std::string> entries;
  std::vector<std::string> options;  // for NVRTC, as written after "--"
  std::optional<RewriteMode> rewrite = {};
  std::optional<std::filesystem::path> depfile = {};
  bool quiet = false;  // say nothing of what was made
};

struct InspectCommand {
  bool json = false;
  tools::TrustedFiles trusted;
  std::filesystem::path image;
  std::optional<std::filesystem::path> extract;
  std::optional<std::regex> kernel;  // found in the names of the kernels to show
  std::string arch;                  // of the images to show; empty: all
};

struct CacheCommand {
  enum class Action { kStats, kList, kVerify, kClear, kExport, kImport };
  bool json = false;
  Action action = Action::kStats;
  std::filesystem::path folder = {};  // of kExport and kImport
};

struct ExecCommand {
  bool json = false;  // standard output is the program's
  tools::ExecSettings settings;
  bool on_gpu = false;               // observed on a GPU, not simulated
  std::vector<std::string> program;  // with its arguments
  std::optional<std::string> json_file;
  std::optional<std::string> log_file;       // of the report; without it, standard error
  std::optional<std::regex> kernels;         // whose findings count; all
  std::optional<std::regex> excluded;        // kernels whose findings do not count
  std::optional<tools::SanitizerTool> tool;  // whose findings count; all
  bool application_only = false;  // findings of other processes than the program's do not count
  bool needs_cuda = false;        // a program that does not use it has an error
  std::optional<std::size_t> print_limit;  // findings that are printed
  bool prints_warnings = true;
  bool quiet = false;  // findings alone are printed
  std::optional<std::filesystem::path> suppressions;
  ReportFiles reports;
  std::optional<double> timeout;  // seconds
  int error_status = 1;           // of a program that ends well, with errors
  bool warnings_as_errors = false;
  bool print_environment = false;  // and run nothing
};

struct RecordCommand {
  bool json = false;                 // standard output is the program's
  std::string device;                // cuda, sim, sim:NAME; empty: a GPU where there is one
  std::filesystem::path output;      // the folder of the record
  std::vector<std::string> program;  // with its arguments
  bool contents = false;             // what copies bring from the host is recorded
  std::optional<std::string> json_file;
  std::optional<double> timeout;  // seconds
};

struct PtxasCommand {
  std::vector<std::string> arguments;  // of ptxas
};

struct ToolkitCommand {
  bool json = false;
  std::filesystem::path folder;               // to make
  std::optional<std::filesystem::path> from;  // the toolkit; empty: the customary places
};

// Text for standard output as it is: a man page, a completion script.
struct ShowText {
  std::string text;
};

struct ShowVersion {};

// The help of a command; of all of them where it is empty.
struct ShowHelp {
  std::string command;
};

using Command =
    std::variant<ShowText, ShowVersion, ShowHelp, DoctorCommand, RunCommand, CheckCommand,
                 BenchCommand, TuneCommand, BuildCommand, SignCommand, InitCommand, ExplainCommand,
                 CompileCommand, InspectCommand, CacheCommand, ExecCommand, RecordCommand,
                 PtxasCommand, ToolkitCommand>;

}  // namespace baton::cli
