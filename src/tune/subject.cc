#include "tune/subject.h"

#include <utility>

#include "base/hash/hash.h"
#include "bundle/definitions.h"
#include "load/kernel_definition.h"
#include "program/writer/writer.h"

namespace baton::tuning {
namespace {

std::string digest_of(Sha256& hash) {
  return to_hex(hash.finish());
}

// The same program, without the places of its files and the code of its kernels: a folder that
// moves, and a bundle of the program, keep their records.
Program without_code(const Program& program) {
  ProgramDefinition plain = program.definition();
  plain.directory.clear();
  for (ProgramKernel& kernel : plain.kernels) {
    ProgramKernel bare;
    bare.name = kernel.name;
    bare.text = "code";
    bare.launch = kernel.launch;
    bare.rewrite = kernel.rewrite;
    bare.where = kernel.where;
    kernel = std::move(bare);
  }
  const auto leave_name = [](std::filesystem::path& path) { path = path.filename(); };
  for (ProgramBuffer& buffer : plain.buffers) {
    if (!buffer.file.empty()) leave_name(buffer.file);
    buffer.expect.clear();
  }
  return Program(std::move(plain));
}

}  // namespace

Subject::Subject(Program program, std::optional<Bundle> bundle, const Device& device,
                 const LoadOptions& options)
    : program_(std::move(program)),
      bundle_(std::move(bundle)),
      device_(device),
      options_(options) {}

LoadedProgram Subject::load(const TuneChoices& choices) const {
  if (bundle_) return LoadedProgram::load(*bundle_, device_, choices, options_);
  return LoadedProgram::load(with_choices(program_, choices), device_, options_);
}

std::string Subject::program_digest() const {
  Sha256 hash;
  hash.update_field("baton tuned program");
  hash.update_field(without_code(program_).to_toml());
  return digest_of(hash);
}

std::string Subject::images_digest() const {
  Sha256 hash;
  hash.update_field("baton tuned images");
  std::vector<load::KernelDefinition> definitions =
      bundle_ ? bundle::read_definitions(*bundle_, program_, device_)
              : load::read_definitions(program_);
  for (load::KernelDefinition& definition : definitions) {
    KernelModule module;
    load::at_kernel(*definition.kernels[0], [&] {
      load::make(definition, {.arch = device_.compile_arch(), .use_cache = options_.use_cache},
                 module);
    });
    for (const ProgramKernel* kernel : definition.kernels) hash.update_field(kernel->name);
    hash.update_field(module.compiled ? module.compiled->ptx.bytes()
                      : module.image  ? module.image->bytes()
                                      : std::string_view());
  }
  return digest_of(hash);
}

}  // namespace baton::tuning
