#include "load/kernel_set.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/system/thread_team.h"
#include "driver/driver.h"
#include "load/assembled.h"
#include "load/instrumentation.h"
#include "load/kernel_entries.h"
#include "load/read_ahead.h"
#include "runtime/context.h"

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

// More threads gain nothing where drivers of GPUs compile (docs/benchmarks-host.md).
constexpr unsigned kMostThreads = 4;

// Whether the driver compiles PTX, which it does in several threads at once. Machine code it loads
// faster in one.
bool driver_compiles(const Device& device, const KernelModule& module) {
  if (device.driver().simulator != nullptr || module.instrumented || module.rewritten) return true;
  return module.compiled ? !module.compiled->cubin : module.image->kind() == ImageKind::kPtx;
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
                     const Device& device, const LoadOptions& options)
    : assemble_(options.assemble || needs_registers(program)),
      is_instrumented_(options.instrument) {
  const Rewrites rewrites(program, device, options);
  LoadCount count(options.progress, definitions.size());
  reports_.reserve(definitions.size());
  kernels_.reserve(program.kernels().size());
  const std::string arch = device.compile_arch();
  for (std::size_t number = 0; number < definitions.size(); ++number) {
    KernelDefinition& definition = definitions[number];
    KernelModule& report = reports_.emplace_back();
    at_kernel(*definition.kernels[0], [&] {
      const bool is_made_here = !definition.image && !definition.compiled;
      if (is_made_here) count.begin(number, definition);
      make(definition, {.arch = arch, .use_cache = options.use_cache}, report);
      rewrites.apply(definition, report);
      if (options.instrument) instrument_kernels(definition, device, report);
    });
  }
  load_modules(definitions, device, count);
  const ContextGuard guard(device);  // once, and not for each kernel
  for (std::size_t number = 0; number < definitions.size(); ++number) {
    KernelDefinition& definition = definitions[number];
    at_kernel(*definition.kernels[0], [&] { rewrites.insist(definition, reports_[number]); });
    take_kernels(definition, device, number);
    take_origin(std::move(definition), reports_[number]);
  }
  count.end();
}

void KernelSet::load_modules(const std::vector<KernelDefinition>& definitions, const Device& device,
                             LoadCount& count) {
  std::vector<std::optional<Module>> loaded(definitions.size());
  const auto load = [&](std::size_t number) {
    count.begin(number, definitions[number]);
    at_kernel(*definitions[number].kernels[0], [&] {
      loaded[number] = load_module(device, definitions[number], reports_[number], assemble_);
    });
  };
  std::vector<std::size_t> to_compile;
  std::vector<Image> machine_code;
  machine_code.reserve(definitions.size());
  for (std::size_t number = 0; number < definitions.size(); ++number) {
    const KernelModule& report = reports_[number];
    if (driver_compiles(device, report)) {
      to_compile.push_back(number);
    } else {
      machine_code.push_back(report.compiled ? *report.compiled->cubin : *report.image);
    }
  }
  const ReadAhead read_ahead(std::move(machine_code));
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, kMostThreads);
  ThreadTeam(threads).run(to_compile.size(), [&](std::size_t k) { load(to_compile[k]); });
  modules_.reserve(definitions.size());
  for (std::size_t number = 0; number < definitions.size(); ++number) {
    if (!loaded[number]) load(number);
    modules_.push_back(*std::move(loaded[number]));
  }
}

void KernelSet::take_kernels(const KernelDefinition& definition, const Device& device,
                             std::size_t number) {
  KernelModule& report = reports_[number];
  const Module& module = modules_[number];
  // The compiler alone knows what it spilled.
  std::unordered_map<std::string_view, std::uint32_t> spills;
  if (report.compiled && !report.rewritten && !report.instrumented) {
    for (const CompiledKernel& kernel : report.compiled->kernels) {
      spills.emplace(kernel.symbol, kernel.spill_store_bytes);
    }
  }
  const KernelEntries entries(module.facts(), report.compiled ? &*report.compiled : nullptr,
                              definition.name);
  report.kernels.reserve(definition.kernels.size());
  for (const ProgramKernel* kernel : definition.kernels) {
    at_kernel(*kernel, [&] {
      const Kernel loaded = module.kernel(entries.of(*kernel).name);
      KernelFacts& facts = report.kernels.emplace_back(kernel->name, loaded.facts()).second;
      const auto spilled = spills.find(facts.name);
      if (spilled != spills.end()) facts.spill_bytes = spilled->second;
      if (facts.traced) note_registers(loaded, kernel->name, device, facts, report);
      kernels_.emplace(kernel->name, Loaded{number, loaded});
    });
  }
}

const Image* KernelSet::ptx(std::string_view name) const {
  const KernelModule& report = reports_[at(name).module];
  if (report.rewritten) return &*report.rewritten;
  if (report.compiled) return &report.compiled->ptx;
  const bool is_ptx = report.image && report.image->kind() == ImageKind::kPtx;
  return is_ptx ? &*report.image : nullptr;
}

const KernelSet::Loaded& KernelSet::at(std::string_view name) const {
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) {
    throw error(ErrorCode::kNotFound, "the program has no kernel \"{}\"", name);
  }
  return found->second;
}

}  // namespace baton::load
