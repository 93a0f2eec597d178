#include "cli/command_line/command_files.h"

#include <fmt/core.h>

#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace baton::cli {
namespace {

using Paths = std::vector<std::filesystem::path>;

void add(const std::vector<Assignment>& given, Paths& files) {
  for (const auto& [name, file] : given) files.emplace_back(file);
}

template <typename Optional>
void add(const Optional& file, Paths& files) requires requires {
  *file;
}
{
  if (file) files.emplace_back(*file);
}

struct Reads {
  Paths operator()(const RunCommand& command) const {
    Paths files = {command.program};
    files.insert(files.end(), command.trusted.begin(), command.trusted.end());
    add(command.inputs, files);
    add(command.expected.files, files);
    for (const std::filesystem::path& folder : command.expected.folders) {
      std::error_code unreadable;
      for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
        files.push_back(entry.path());
      }
    }
    if (command.call) add(command.call->arguments, files);
    return files;
  }
  Paths operator()(const CheckCommand& command) const {
    Paths files = command.files;
    files.insert(files.end(), command.trusted.begin(), command.trusted.end());
    return files;
  }
  Paths operator()(const BenchCommand& command) const {
    Paths files = {command.program};
    files.insert(files.end(), command.trusted.begin(), command.trusted.end());
    add(command.other, files);
    add(command.baseline, files);
    add(command.inputs, files);
    return files;
  }
  Paths operator()(const TuneCommand& command) const {
    Paths files = {command.program};
    files.insert(files.end(), command.trusted.begin(), command.trusted.end());
    add(command.inputs, files);
    return files;
  }
  Paths operator()(const BuildCommand& command) const {
    Paths files = {command.program};
    add(command.key, files);
    return files;
  }
  // The bundle itself may be signed in place.
  Paths operator()(const SignCommand& command) const { return {command.key}; }
  Paths operator()(const InitCommand& command) const { return {command.file}; }
  Paths operator()(const CompileCommand& command) const { return {command.source}; }
  Paths operator()(const InspectCommand& command) const {
    Paths files = {command.image};
    files.insert(files.end(), command.trusted.begin(), command.trusted.end());
    return files;
  }
  // A word of the program's may be a file that it reads, as a script of an interpreter.
  Paths operator()(const ExecCommand& command) const {
    Paths files(command.program.begin(), command.program.end());
    add(command.suppressions, files);
    return files;
  }
  Paths operator()(const RecordCommand& command) const {
    return {command.program.begin(), command.program.end()};
  }
  template <typename Other>
  Paths operator()(const Other&) const {
    return {};
  }
};

struct Writes {
  tools::FileGuard& files;

  template <typename File>
  void add(std::string_view option, const std::optional<File>& file) const {
    if (file)
      files.writes(fmt::format("{} {}", option, std::filesystem::path(*file).string()), *file);
  }
  void add(const ReportFiles& reports) const {
    add("--sarif", reports.sarif);
    add("--junit", reports.junit);
  }
  void operator()(const RunCommand& command) const {
    for (const auto& [name, file] : command.outputs) {
      files.writes(fmt::format("--output {}={}", name, file), file);
    }
    add("--trace", command.trace);
    add("--html", command.html);
    add(command.reports);
  }
  void operator()(const CheckCommand& command) const { add(command.reports); }
  void operator()(const BenchCommand& command) const { add("--plot", command.plot); }
  void operator()(const TuneCommand& command) const { add("-o", command.output); }
  void operator()(const BuildCommand& command) const {
    add("-o", std::optional(command.output));
    add("--tvm-ffi", command.tvm_library);
  }
  void operator()(const SignCommand& command) const { add("-o", std::optional(command.output)); }
  void operator()(const InitCommand& command) const { add("-o", command.output); }
  void operator()(const CompileCommand& command) const {
    add("-o", command.output);
    add("--depfile", command.depfile);
  }
  void operator()(const ExecCommand& command) const {
    add("--json", command.json_file);
    add("--log-file", command.log_file);
    add(command.reports);
  }
  void operator()(const RecordCommand& command) const { add("--json", command.json_file); }
  template <typename Other>
  void operator()(const Other&) const {}
};

}  // namespace

void note_files(const Command& command, tools::FileGuard& files) {
  files.reads(std::visit(Reads{}, command));
  std::visit(Writes{files}, command);
}

}  // namespace baton::cli
