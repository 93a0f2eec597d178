#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "baton/program.h"
#include "cli/commands/commands.h"
#include "cli/output/counted.h"
#include "tools/basics.h"
#include "tools/draft/library_kernels.h"
#include "tools/draft/program_draft.h"
#include "tools/draft/reference_script.h"
#include "tools/file/files.h"
#include "tools/file/program_arrays.h"
#include "tools/process/child_process.h"

namespace baton::cli {

namespace {

void require_new(const std::filesystem::path& target) {
  if (!std::filesystem::exists(target)) return;
  if (std::filesystem::is_directory(target)) {
    throw error(ErrorCode::kInvalidInput, "{0} is a folder; name a file in it: -o {0}/P.toml",
                target.string());
  }
  throw error(ErrorCode::kInvalidInput,
              "{} exists already; name another file with -o, or remove it", target.string());
}

// A path as a shell takes it, for a call that is copied. Plain ones stay as they are.
std::string pasted(const std::filesystem::path& path) {
  const std::string text = path.string();
  const bool is_plain = std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("/._-+,:@%=").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return is_plain ? text : tools::shell_word(text);
}

// Shows which guess of which kernel is tried.
std::function<void(const tools::DraftProgress&)> trial_progress(Output& output) {
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{250};  // most trials are shorter
  const Clock::time_point start = Clock::now();
  return [&output, start, next = start](const tools::DraftProgress& at) mutable {
    const Clock::time_point now = Clock::now();
    if (now < next) return;
    next = now + kInterval;
    const double passed = std::chrono::duration<double>(now - start).count();
    output.progress(fmt::format("try {} ({} of {}): guess {} of {}, {}", at.kernel, at.done + 1,
                                at.kernels, at.guess + 1, at.guesses, format_duration(passed)),
                    static_cast<double>(at.done) / static_cast<double>(at.kernels), passed);
  };
}

}  // namespace

void init(const InitCommand& command, Output& output) {
  const std::filesystem::path target =
      command.output ? *command.output : command.file.stem().concat(".toml");
  nlohmann::ordered_json& json = output.result();
  json["file"] = command.file.string();
  json["output"] = target.string();
  if (command.file.extension() == ".toml") {
    throw error(ErrorCode::kInvalidInput,
                "{0} is a program file already; init makes one of a source or an image; baton run "
                "{0} runs it",
                command.file.string());
  }
  require_new(target);
  tools::require_target(command.output ? "-o " + target.string() : target.string(), target);
  const std::string stem = target.stem().string();
  const std::filesystem::path script = target.parent_path() / (stem + "_reference.py");
  if (command.reference) require_new(script);
  output.progress("read and try the kernels");
  std::filesystem::path kernels = command.file;
  tools::DraftOptions options{
      .entries = command.entries, .arch = command.arch, .folder = target.parent_path()};
  options.progress = trial_progress(output);
  const std::optional<tools::LibraryKernels> library = tools::library_kernels(command.file);
  if (library) {
    kernels = target.parent_path() / (stem + library->ending);
    require_new(kernels);
    tools::write_file(kernels, library->bytes);
    options.functions = library->functions;
  }
  json["image"] = library ? nlohmann::ordered_json(kernels.string()) : nullptr;
  const tools::ProgramDraft draft = tools::draft_program(kernels, options);
  std::string reference;
  if (command.reference) {
    const Program program =
        Program::from_text(draft.text, target.filename().string(), target.parent_path());
    reference = tools::reference_script(program, target.filename().string(),
                                        script.filename().string(), stem + "_expected");
  }
  tools::write_file(target, draft.text);
  if (command.reference) tools::write_file(script, reference);
  json["reference"] = command.reference ? nlohmann::ordered_json(script.string()) : nullptr;
  json["kernels"] = draft.kernels;
  for (const std::string& remark : draft.remarks) output.warning(remark);
  if (library) output.line("wrote {}: the kernels of {}", kernels.string(), command.file.string());
  output.line("wrote {}: {}; check the lines marked \"guess\", then: baton run {}", target.string(),
              counted(draft.kernels.size(), "kernel"), pasted(target));
  if (command.reference) {
    output.line("wrote {}: fill in its function, then: python3 {} && baton run {} --expect {}",
                script.string(), pasted(script), pasted(target),
                pasted(target.parent_path() / (stem + "_expected")));
  }
}

}  // namespace baton::cli
