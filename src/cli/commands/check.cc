#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "baton/executable.h"
#include "baton/image.h"
#include "cli/commands/check_files.h"
#include "cli/commands/commands.h"
#include "cli/commands/inspect_metadata.h"
#include "cli/commands/record.h"
#include "cli/commands/unused_options.h"
#include "cli/report/check_report.h"
#include "cli/report/kernel_modules.h"
#include "cli/report/load_progress.h"
#include "cli/report/run_report.h"
#include "tools/basics.h"
#include "tools/file/contents.h"
#include "tools/file/metadata_check.h"
#include "tools/file/program_file.h"
#include "tools/next_step.h"
#include "tools/process/record_folder.h"

namespace baton::cli {
namespace {

// The run that this check was for.
std::string run_line(const std::filesystem::path& file, const CheckCommand& command) {
  std::string line = "baton run " + file.string();
  if (command.device) line += " --device " + *command.device;
  for (const auto& [name, value] : command.symbols)
    line += fmt::format(" --set {}={}", name, value);
  if (command.pdl != PdlMode::kAuto) line += fmt::format(" --pdl {}", to_string(command.pdl));
  if (command.rewrite) line += fmt::format(" --rewrite {}", to_string(*command.rewrite));
  if (command.collectives == CollectiveExecutor::kPeer) line += " --collectives peer";
  return line;
}

// Why nothing was checked of a file that a folder has; empty: it was.
std::string check_images(const tools::CheckTarget& target, const FoundImages& found,
                         const Device& device, Output& output) {
  const std::filesystem::path& file = target.file;
  if (found.images.empty()) {
    if (target.is_found) return "it holds no GPU code";
    throw error(ErrorCode::kInvalidInput, "{} holds no image of GPU code: it is of the kind \"{}\"",
                file.string(), found.container);
  }
  std::optional<Error> refusal;
  std::size_t refused = 0;
  for (const FoundImage& image : found.images) {
    try {
      show_image(image, device, output);
    } catch (Error& failure) {
      ++refused;
      if (!refusal) refusal = std::move(failure);
    }
  }
  // Of several images, made for several GPUs, those that do not suit this one are not an error. The
  // same goes for the files of a folder.
  if (refused < found.images.size()) return {};
  if (!target.is_found || refusal->code() == ErrorCode::kDamaged) throw std::move(*refusal);
  return "the device does not take it: " +
         output.result()["images"].back()["reason"].get<std::string>();
}

void check_functions(const ModuleMetadata& module, const ImageFacts& image, const std::string& name,
                     Output& output) {
  std::vector<std::string> remarks;
  tools::check_metadata(module, image, name, remarks);
  for (const std::string& remark : remarks) output.warning(remark);
}

// Metadata brings its own images, or goes with the one that the file is.
void check_metadata(const tools::Contents& contents, const Device& device, Output& output) {
  if (!contents.metadata->format.empty()) {
    output.line("\nlaunch metadata: {}", contents.metadata->format);
  }
  show_metadata(*contents.metadata, output);
  for (const ModuleMetadata& module : contents.metadata->modules) {
    if (contents.images.container.empty()) {
      const Image& image = contents.images.images.at(0).image;
      check_functions(module, read_facts(image), image.name(), output);
    } else if (module.image()) {
      const FoundImage own{*module.image(), module.name(), 0};
      if (!module.functions().empty()) {
        check_functions(module, read_facts(own.image), own.image.name(), output);
      }
      // What stands in the file itself is shown already.
      if (!contents.has_offsets || contents.images.images.empty()) show_image(own, device, output);
    } else if (!module.functions().empty()) {
      output.line(
          "\n{} has no image: its functions are not checked; name the image, with "
          "the metadata beside it as NAME.tvm_meta.json",
          printable(module.name()));
    }
  }
}

void check_program(const CheckCommand& command, const std::filesystem::path& file,
                   const Device& device, Output& output) {
  const tools::ProgramFile named = tools::open_program(file, command.trusted);
  const Program& program = named.program;
  output.files().reads(program);
  show_program(program, file, output);
  require_collectives(command.collectives, program);
  PrepareOptions options;
  options.progress = load_progress(output);
  options.pdl = command.pdl;
  options.assemble = true;
  if (command.rewrite) options.rewrite = *command.rewrite;
  Executable executable = named.prepare(device, options);
  Bindings bindings;
  bindings.symbols = command.symbols;
  bindings.collectives = command.collectives;
  CheckReport report = executable.check(bindings);
  output.write_held();
  show_rewrites(executable.modules(), output);
  show_check(report, executable, command.verbose, output);
  output.result()["next"] = nullptr;
  if (report.objection) throw std::move(*report.objection);
  std::string next = tools::rewrite_advice(named, device, options, bindings, report);
  if (next.empty()) next = run_line(file, command);
  output.result()["next"] = next;
  output.line("next: {}", next);
}

}  // namespace

std::string check_file(const CheckCommand& command, const tools::CheckTarget& target,
                       CheckedFiles& checked, Output& output) {
  const std::filesystem::path& file = target.file;
  output.result()["file"] = file.string();
  tools::require_no_source(file);
  if (tools::is_record(file)) {
    check_record(command, file, output);
    return {};
  }
  const std::optional<tools::Contents> contents = tools::read_contents_or_program(file);
  std::optional<Device>& device = checked.device;
  if (!device) {
    device = command.device ? Device::open(*command.device) : Device::open();
    show_device(*device, output);
  }
  if (!contents) {
    checked.has_program = true;
    check_program(command, file, *device, output);
    return {};
  }
  tools::require_bundle(file, command.trusted);
  // Metadata may bring images that nothing else finds.
  const bool has_images =
      contents->has_offsets && !(contents->metadata && contents->images.images.empty());
  std::string skipped;
  if (has_images) skipped = check_images(target, contents->images, *device, output);
  if (contents->metadata) check_metadata(*contents, *device, output);
  return skipped;
}

void check(const CheckCommand& command, Output& output) {
  // A run that fails has the same keys however far it gets.
  for (const char* value : {"device", "device_name"}) output.result()[value] = nullptr;
  const std::filesystem::path& first = command.files.front();
  std::error_code failure;
  const bool is_folder = std::filesystem::is_directory(first, failure) && !tools::is_record(first);
  if (command.files.size() > 1 || is_folder) {
    return check_files(command, output);
  }
  CheckedFiles checked;
  check_file(command, {first, false}, checked, output);
  warn_of_unused(command, checked, output);
}

}  // namespace baton::cli
