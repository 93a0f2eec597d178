#include "baton/compile.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "baton/device.h"
#include "baton/image.h"
#include "cli/commands.h"
#include "cli/kernel_table.h"
#include "tools/basics.h"
#include "tools/files.h"

namespace baton::cli {
namespace {

// What to write: the flags decide, else the output's ending, else machine code where there is any.
const Image& wanted_image(const CompileCommand& command, const Compiled& compiled,
                          const std::string& arch) {
  const bool named_ptx = command.output && command.output->extension() == ".ptx";
  if (command.ptx || (!command.cubin && (named_ptx || !compiled.cubin))) return compiled.ptx;
  if (compiled.cubin) return *compiled.cubin;
  throw error(ErrorCode::kInvalidInput,
              "the virtual architecture {} gives no machine code; take --ptx, or sm_{} for --arch",
              arch, arch.substr(arch.find('_') + 1));
}

// Where to write it: -o, else the source's name in the working directory where a flag asks for a
// file, else nowhere.
std::optional<std::filesystem::path> target_of(const CompileCommand& command, const Image& image) {
  if (command.output) return command.output;
  if (!command.ptx && !command.cubin) return std::nullopt;
  return command.source.stem().concat(image.kind() == ImageKind::kPtx ? ".ptx" : ".cubin");
}

}  // namespace

void compile(const CompileCommand& command, Output& output) {
  const std::string arch = command.arch.empty() ? Device::open().compile_arch() : command.arch;
  const Source source = tools::source_with_options(command.source, command.options);
  output.progress("compile");
  const Compiled compiled = baton::compile(source, {.arch = arch, .entries = command.entries});

  const ImageFacts facts = read_facts(compiled);
  const Image& image = wanted_image(command, compiled, arch);
  const std::optional<std::filesystem::path> target = target_of(command, image);
  if (target) tools::write_file(*target, image.bytes());

  nlohmann::ordered_json& json = output.result();
  json["source"] = command.source.string();
  json["arch"] = arch;
  json["cache_hit"] = compiled.cache_hit;
  json["seconds"] = compiled.seconds;
  json["log"] = compiled.log;
  json["output"] = nullptr;
  if (target) json["output"] = target->string();

  // On a hit the time is the one that was spent when the entry was made.
  output.line("{} for {}: {} {}", command.source.string(), arch,
              compiled.cache_hit ? "taken from the cache; compiling it took" : "compiled in",
              format_duration(compiled.seconds));
  show_kernels(facts, output, compiled.kernels);
  if (!compiled.log.empty()) output.text("\n" + compiled.log + "\n");
  if (target) {
    output.line("\nwrote {}: {}, {}", target->string(), to_string(image.kind()),
                format_bytes(image.bytes().size()));
  }
}

}  // namespace baton::cli
