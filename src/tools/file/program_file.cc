#include "tools/file/program_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/error.h"
#include "base/file/mapped_file.h"
#include "tools/file/contents.h"
#include "tools/process/record_folder.h"

namespace baton::tools {

void require_no_source(const std::filesystem::path& path) {
  std::error_code failed;
  const bool is_source = path.extension() == ".cu" || path.extension() == ".cuh";
  if (!is_source || !std::filesystem::is_regular_file(path, failed)) return;
  throw error(ErrorCode::kInvalidInput,
              "{0} is CUDA source, not a program or an image; baton init {0} writes a program file "
              "for its kernels, baton compile {0} --ptx makes an image",
              path.string());
}

void require_source(const std::filesystem::path& path) {
  if (path.extension() == ".toml" || Bundle::is_bundle(path)) {
    throw error(
        ErrorCode::kInvalidInput,
        "{0} is a program, not CUDA source; baton run {0} runs it, and compiles its sources",
        path.string());
  }
  constexpr std::string_view kImages[] = {".ptx", ".cubin", ".fatbin"};
  if (std::ranges::find(kImages, path.extension().string()) == std::end(kImages)) return;
  throw error(
      ErrorCode::kInvalidInput,
      "{0} is an image, not CUDA source; baton inspect {0} shows its kernels, baton init {0} "
      "writes a program file for them",
      path.string());
}

void require_program(const std::filesystem::path& path) {
  require_no_source(path);
  if (is_record(path)) {
    throw error(
        ErrorCode::kInvalidInput,
        "{0} is a record, not a program; baton run {0} replays it, baton check {0} judges its "
        "launches, baton inspect {0} lists them",
        path.string());
  }
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    throw error(ErrorCode::kInvalidInput,
                "{} is a folder, and not a record: it has no record.json; name a program file, a "
                "bundle or a record",
                path.string());
  }
}

ProgramFile open_program(const std::filesystem::path& path, const TrustedFiles& trusted) {
  require_program(path);
  if (!Bundle::is_bundle(path)) {
    require_bundle(path, trusted);
    return {Program::from_file(path)};
  }
  Bundle bundle = Bundle::open(path, checks_of(trusted, Verify::kIndex));
  Program program = bundle.program();
  return {std::move(program), std::move(bundle)};
}

bool is_library(const std::filesystem::path& path) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return false;
  if (!MappedFile::open(path)->bytes().starts_with(kElf)) return false;
  return library_kernels(path).has_value();
}

ProgramFile open_library(const std::filesystem::path& path, const LibraryCall& call) {
  std::optional<LibraryKernels> kernels;
  if (read_contents_or_program(path)) kernels = library_kernels(path);
  if (!kernels) {
    throw error(ErrorCode::kInvalidInput,
                "{} has no launch metadata, which --function and --arg need; baton "
                "inspect {} shows what it is",
                path.string(), path.string());
  }
  LibraryProgram made = library_program(path.string(), *kernels, call);
  return {.program = std::move(made.program), .inputs = std::move(made.inputs)};
}

Executable ProgramFile::prepare(const Device& device, const PrepareOptions& options,
                                const TuneChoices& choices) const {
  if (!bundle) return Executable::prepare(with_choices(program, choices), device, options);
  return Executable(LoadedProgram::load(*bundle, device, choices, options.load()),
                    options.executor);
}

std::string for_architectures(const Bundle& bundle) {
  const std::vector<std::string> names = bundle.architectures();
  return names.empty() ? "" : fmt::format(", for {}", fmt::join(names, ", "));
}

}  // namespace baton::tools
