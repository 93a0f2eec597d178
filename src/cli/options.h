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
#include "tools/program_arrays.h"

namespace baton::cli {

// What the command line asked for, checked as far as that is possible without opening a file: plain
// values, one struct a command. docs/cli.md says what each option means.

using tools::Assignment;

struct DoctorCommand {
  bool json = false;
};

struct RunCommand {
  bool json = false;
  bool strict = false;  // a warning is status 1
  std::filesystem::path program;
  std::optional<std::string> device;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::vector<Assignment> inputs;
  std::vector<Assignment> outputs;
  std::vector<Assignment> expected;
  std::optional<double> rtol;
  std::optional<double> atol;
  std::uint64_t repeat = 1;
  std::uint64_t seed = 0;
  std::optional<double> timeout;  // seconds
  std::optional<std::filesystem::path> keep;
  ExecutorKind executor = ExecutorKind::kStream;
  PdlMode pdl = PdlMode::kAuto;        // of the steps that say auto
  std::optional<RewriteMode> rewrite;  // of the kernels that say nothing
  std::optional<Schedule> schedule;
  Races races = Races::kUsual;
  std::optional<std::filesystem::path> trace;
};

struct CheckCommand {
  bool json = false;
  bool strict = false;
  bool verbose = false;        // lists all launches and edges
  std::filesystem::path file;  // a program, or anything that holds images
  std::optional<std::string> device;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  PdlMode pdl = PdlMode::kAuto;
  std::optional<RewriteMode> rewrite;
};

struct BenchCommand {
  bool json = false;
  std::filesystem::path program;
  std::optional<std::string> device;
  std::vector<std::pair<std::string, std::int64_t>> symbols;
  std::vector<Assignment> inputs;
  std::optional<std::uint64_t> repeat;  // as many as take some seconds
  std::uint64_t seed = 0;
  std::optional<double> timeout;  // seconds, of each pass of all runs
  ExecutorKind executor = ExecutorKind::kStream;
  PdlMode pdl = PdlMode::kAuto;
  std::optional<RewriteMode> rewrite;
};

struct BuildCommand {
  bool json = false;
  std::filesystem::path program;
  std::filesystem::path output;
  std::vector<std::string> architectures;  // empty: of the device that `run` would take
  bool sources = true;
  bool weights = false;
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
};

struct InspectCommand {
  bool json = false;
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

// --help and --version: text for standard output.
struct ShowText {
  std::string text;
};

using Command =
    std::variant<ShowText, DoctorCommand, RunCommand, CheckCommand, BenchCommand, BuildCommand,
                 InitCommand, ExplainCommand, CompileCommand, InspectCommand, CacheCommand>;

}  // namespace baton::cli
