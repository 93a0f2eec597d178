#include "load/kernel_set.h"

#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "load/assembled.h"
#include "load/instrumentation.h"
#include "load/kernel_entries.h"

namespace baton::load {
namespace {

// The program's kernels of a module that comes as PTX; none where one is not found, which is told
// when the module is loaded.
WantedKernels wanted_of(const KernelDefinition& definition, const KernelModule& report,
                        const Image& ptx) {
  WantedKernels wanted;
  try {
    const ImageFacts facts = read_facts(ptx);
    const KernelEntries entries(facts, report.compiled ? &*report.compiled : nullptr,
                                definition.name);
    for (const ProgramKernel* kernel : definition.kernels) {
      wanted.insert(std::string(entries.of(*kernel).name));
    }
  } catch (const Error&) {
    return {};
  }
  return wanted;
}

// PTX that Baton changed, which the driver compiles in place of what it was made from.
Module load_changed(const Device& device, const KernelDefinition& definition,
                    const KernelModule& report, const Image& ptx, bool assemble) {
  if (!report.compiled) {
    return assemble ? load_assembled(device, ptx, wanted_of(definition, report, ptx))
                    : Module::load(device, ptx);
  }
  Compiled compiled = *report.compiled;
  compiled.ptx = ptx;
  compiled.cubin.reset();
  if (!assemble) return Module::load(device, compiled);
  return load_assembled(device, std::move(compiled), wanted_of(definition, report, ptx));
}

bool is_refusal(const Error& failure) {
  const ErrorCode code = failure.code();
  return code == ErrorCode::kInvalidInput || code == ErrorCode::kUnsupported;
}

// What was instrumented, else what was rewritten; or what it was made from, where that does not
// load.
Module load_module(const Device& device, const KernelDefinition& definition, KernelModule& report,
                   bool assemble) {
  if (report.instrumented) {
    try {
      return load_changed(device, definition, report, *report.instrumented, assemble);
    } catch (const Error& refusal) {
      if (!is_refusal(refusal)) throw;
      forget_instrumented(report, refusal.message());
    }
  }
  if (report.rewritten) {
    try {
      return load_changed(device, definition, report, *report.rewritten, assemble);
    } catch (const Error& refusal) {
      if (!is_refusal(refusal)) throw;
      log(LogLevel::kWarning, "{} is loaded as it was, without its inserted waits: {}",
          report.rewritten->name(), refusal.message());
      report.rewritten.reset();
      for (KernelRewrite& rewrite : report.rewrites) {
        if (rewrite.obstacle.empty()) rewrite.obstacle = refusal.message();
        rewrite.changes.clear();
      }
    }
  }
  if (report.compiled) return Module::load(device, *report.compiled);
  if (assemble && report.image->kind() == ImageKind::kPtx) {
    return load_assembled(device, *report.image, wanted_of(definition, report, *report.image));
  }
  return Module::load(device, *report.image);
}

}  // namespace

KernelSet::KernelSet(const Program& program, std::vector<KernelDefinition> definitions,
                     const Device& device, const LoadOptions& options) {
  const Rewrites rewrites(program, device, options);
  assemble_ = options.assemble || needs_registers(program);
  is_instrumented_ = options.instrument;
  const std::size_t count = definitions.size();
  for (KernelDefinition& definition : definitions) {
    if (options.progress) {
      options.progress({definition.kernels[0]->name, modules_.size(), count});
    }
    load(std::move(definition), device, options, rewrites);
  }
  if (options.progress) options.progress({{}, count, count});
}

void KernelSet::load(KernelDefinition definition, const Device& device, const LoadOptions& options,
                     const Rewrites& rewrites) {
  KernelModule report;
  at_kernel(*definition.kernels[0], [&] {
    make(definition, device.compile_arch(), options.use_cache, report);
    rewrites.apply(definition, report);
    if (options.instrument) instrument_kernels(definition, device, report);
    modules_.push_back(load_module(device, definition, report, assemble_));
    rewrites.insist(definition, report);
  });
  const Module& module = modules_.back();
  // The compiler alone knows what it spilled.
  std::unordered_map<std::string_view, std::uint32_t> spills;
  if (report.compiled && !report.rewritten && !report.instrumented) {
    for (const CompiledKernel& kernel : report.compiled->kernels) {
      spills.emplace(kernel.symbol, kernel.spill_store_bytes);
    }
  }
  const KernelEntries entries(module.facts(), report.compiled ? &*report.compiled : nullptr,
                              definition.name);
  for (const ProgramKernel* kernel : definition.kernels) {
    at_kernel(*kernel, [&] {
      const Kernel loaded = module.kernel(entries.of(*kernel).name);
      KernelFacts& facts = report.kernels.emplace_back(kernel->name, loaded.facts()).second;
      const auto spilled = spills.find(facts.name);
      if (spilled != spills.end()) facts.spill_bytes = spilled->second;
      if (facts.traced) note_registers(loaded, kernel->name, device, facts, report);
      kernels_.emplace(kernel->name, Loaded{modules_.size() - 1, loaded});
    });
  }
  take_origin(std::move(definition), report);
  reports_.push_back(std::move(report));
}

const Image* KernelSet::ptx(std::string_view name) const {
  const KernelModule& report = reports_[at(name).module];
  if (report.rewritten) return &*report.rewritten;
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

}  // namespace baton::load
