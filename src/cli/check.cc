#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "baton/executable.h"
#include "baton/image.h"
#include "cli/check_report.h"
#include "cli/commands.h"
#include "cli/run_report.h"

namespace baton::cli {
namespace {

// The images of a file, or nothing where it is a program. Bytes decide what an image is; what is
// none of them and is text can only be a program.
std::optional<FoundImages> images_of(const std::filesystem::path& file) {
  if (file.extension() == ".toml") return std::nullopt;
  try {
    return find_images(file);
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kInvalidInput) throw;
    if (read_file(file).find('\0') != std::string::npos) throw;
    return std::nullopt;
  }
}

void check_images(const CheckCommand& command, const FoundImages& found, const Device& device,
                  Output& output) {
  if (found.images.empty()) {
    throw error(ErrorCode::kInvalidInput, "{} holds no image of GPU code: it is of the kind \"{}\"",
                command.file.string(), found.container);
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
  // Of several images, made for several GPUs, those that do not suit this one are no error.
  if (refused == found.images.size()) throw std::move(*refusal);
}

void check_program(const CheckCommand& command, const Device& device, Output& output) {
  const Program program = Program::from_file(command.file);
  output.result()["program"] = program.name();
  output.line("program  {} ({})", program.name(), command.file.string());
  output.progress("compile and load");
  PrepareOptions options;
  options.pdl = command.pdl;
  Executable executable = Executable::prepare(program, device, options);
  Bindings bindings;
  bindings.symbols = command.symbols;
  show_check(executable.check(std::move(bindings)), device, output);
}

}  // namespace

void check(const CheckCommand& command, Output& output) {
  // A run that fails has the same keys however far it gets.
  for (const char* value : {"device", "device_name", "file"}) output.result()[value] = nullptr;
  output.result()["file"] = command.file.string();
  const std::optional<FoundImages> images = images_of(command.file);
  const Device device = command.device ? Device::open(*command.device) : Device::open();
  show_device(device, output);
  if (images) {
    check_images(command, *images, device, output);
  } else {
    check_program(command, device, output);
  }
}

}  // namespace baton::cli
