#include "baton/compile.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "baton/device.h"
#include "baton/image.h"
#include "baton/link.h"
#include "baton/rewrite.h"
#include "cli/commands/commands.h"
#include "cli/report/kernel_modules.h"
#include "cli/report/kernel_table.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"
#include "tools/file/files.h"
#include "tools/toolkit/depfile.h"

namespace baton::cli {
namespace {

bool is_named(const CompileCommand& command, std::string_view ending) {
  return command.output && command.output->extension() == ending;
}

[[noreturn]] void refuse_machine_code(const std::string& arch) {
  constexpr std::string_view kVirtual = "compute_";
  if (arch.starts_with(kVirtual)) {
    throw error(
        ErrorCode::kInvalidInput,
        "the virtual architecture {} gives no machine code; take --ptx, or sm_{} for --arch", arch,
        arch.substr(kVirtual.size()));
  }
  throw Error(
      ErrorCode::kInvalidInput,
      "relocatable code (-rdc=true) of rewritten kernels is written as PTX alone; take --ptx "
      "and -o K.ptx, or leave --rewrite out");
}

// What to write: the flags decide, else the output's ending, else machine code where there is any.
const Image& wanted_image(const CompileCommand& command, const Compiled& compiled,
                          const std::string& arch) {
  if (command.ptx || (!command.cubin && is_named(command, ".ptx"))) return compiled.ptx;
  if (compiled.cubin) return *compiled.cubin;
  if (command.cubin || is_named(command, ".cubin")) refuse_machine_code(arch);
  return compiled.ptx;
}

// Where to write it: -o, else the source's name in the working directory where a flag asks for a
// file, else nowhere.
std::optional<std::filesystem::path> target_of(const CompileCommand& command, const Image& image) {
  if (command.output) return command.output;
  if (!command.ptx && !command.cubin) return std::nullopt;
  return command.source.stem().concat(image.kind() == ImageKind::kPtx ? ".ptx" : ".cubin");
}

// Puts the rewritten PTX, and machine code of it, in place of what was compiled.
void rewrite_kernels(const CompileCommand& command, const std::string& arch, Compiled& compiled,
                     Output& output) {
  tools::require_rewritable(command.options);
  RewrittenPtx rewritten = rewrite(compiled.ptx, *command.rewrite);
  compiled.ptx = rewritten.image;
  compiled.kernels.clear();  // their figures are of the code that was replaced
  if (compiled.cubin) {
    compiled.cubin = link({LinkInput(rewritten.image)}, {.arch = arch}).cubin;
    const bool wants_code =
        command.cubin || (command.output && !command.ptx && command.output->extension() != ".ptx");
    if (!compiled.cubin && wants_code) {
      throw error(ErrorCode::kNotFound,
                  "machine code of rewritten kernels needs nvJitLink, and it was not found; baton "
                  "doctor says where it was looked for, and -o K.ptx needs none");
    }
  }
  for (KernelRewrite& kernel : rewritten.kernels) {
    kernel.kernel = tools::with_readable_names(kernel.kernel);
  }
  show_rewrites(
      {KernelModule{.name = command.source.string(), .rewrites = std::move(rewritten.kernels)}},
      output);
}

}  // namespace

void compile(const CompileCommand& command, Output& output) {
  const std::string arch = command.arch.empty() ? Device::open().compile_arch() : command.arch;
  const Source source = tools::source_with_options(command.source, command.options);
  const CompileOptions options = {.arch = arch, .entries = command.entries};
  output.files().reads(source, options);
  output.progress("compile");
  Compiled compiled = command.ptx || command.rewrite ? baton::compile(source, options)
                                                     : tools::compile_for_file(source, options);
  if (command.rewrite) rewrite_kernels(command, arch, compiled, output);

  const ImageFacts facts = read_facts(compiled);
  const Image& image = wanted_image(command, compiled, arch);
  const std::optional<std::filesystem::path> target = target_of(command, image);
  if (target) {
    output.files().require(target->string(), *target);
    tools::write_file(*target, image.bytes());
  }
  if (command.depfile) {
    tools::write_file(*command.depfile, tools::depfile(*target, command.source, source, options));
  }

  nlohmann::ordered_json& json = output.result();
  json["source"] = command.source.string();
  json["arch"] = arch;
  json["cache_hit"] = compiled.cache_hit;
  json["seconds"] = compiled.seconds;
  json["log"] = compiled.log;
  json["output"] = nullptr;
  if (target) json["output"] = target->string();

  add_kernels(facts, output, compiled.kernels);
  if (command.quiet) {
    if (!compiled.log.empty()) output.text(compiled.log + "\n");
    return;
  }
  // On a hit the time is the one that was spent when the entry was made.
  output.line("{} for {}: {} {}", command.source.string(), arch,
              compiled.cache_hit ? "taken from the cache; compiling it took" : "compiled in",
              format_duration(compiled.seconds));
  show_kernel_table(facts, output, compiled.kernels);
  if (!compiled.log.empty()) output.text("\n" + compiled.log + "\n");
  if (target) {
    output.line("\nwrote {}: {}, {}", target->string(), to_string(image.kind()),
                format_bytes(image.bytes().size()));
  }
}

}  // namespace baton::cli
