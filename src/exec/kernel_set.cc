#include "exec/kernel_set.h"

#include <utility>

#include "base/error.h"

namespace baton::exec {

KernelSet::KernelSet(const Program& program, const Device& device, const PrepareOptions& options) {
  for (KernelDefinition& definition : read_definitions(program)) {
    load(std::move(definition), device, options);
  }
}

void KernelSet::load(KernelDefinition definition, const Device& device,
                     const PrepareOptions& options) {
  Executable::KernelModule report;
  at_kernel(*definition.kernels[0], [&] {
    if (definition.image) {
      modules_.push_back(Module::load(device, *definition.image));
    } else {
      report.compiled = compile(definition, device.compile_arch(), options.use_cache);
      modules_.push_back(Module::load(device, *report.compiled));
    }
  });
  const Module& module = modules_.back();
  // The compiler alone knows what it spilled.
  std::unordered_map<std::string_view, std::uint32_t> spills;
  if (report.compiled) {
    for (const CompiledKernel& kernel : report.compiled->kernels) {
      spills.emplace(kernel.symbol, kernel.spill_store_bytes);
    }
  }
  for (const ProgramKernel* kernel : definition.kernels) {
    at_kernel(*kernel, [&] {
      const Kernel loaded = module.kernel(kernel->entry);
      KernelFacts& facts = report.kernels.emplace_back(kernel->name, loaded.facts()).second;
      const auto spilled = spills.find(facts.name);
      if (spilled != spills.end()) facts.spill_bytes = spilled->second;
      kernels_.emplace(kernel->name, Loaded{modules_.size() - 1, loaded});
    });
  }
  report.source = std::move(definition.source);
  report.image = std::move(definition.image);
  reports_.push_back(std::move(report));
}

const Image* KernelSet::ptx(std::string_view name) const {
  const Executable::KernelModule& report = reports_[at(name).module];
  if (report.compiled) return &report.compiled->ptx;
  const bool is_ptx = report.image && report.image->kind() == ImageKind::kPtx;
  return is_ptx ? &*report.image : nullptr;
}

const KernelSet::Loaded& KernelSet::at(std::string_view name) const {
  const auto found = kernels_.find(std::string(name));
  if (found == kernels_.end()) {
    throw error(ErrorCode::kNotFound, "the program has no kernel \"{}\"", name);
  }
  return found->second;
}

}  // namespace baton::exec
