#include "load/instrumentation.h"

#include <cuda.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "driver/driver.h"
#include "image/container/fatbin.h"
#include "image/cubin/kept_ptx.h"
#include "load/kernel_entries.h"
#include "load/rewrite_words.h"
#include "trace/instrument.h"

namespace baton::load {
namespace {

// The newest PTX of a fatbin that the device can take, or nothing.
std::optional<Image> ptx_of_fatbin(const Image& image, const Device& device) {
  const image::Fatbin fatbin(image.bytes(), image.name());
  const image::FatbinMember* newest = nullptr;
  for (const image::FatbinMember& member : fatbin.members()) {
    if (member.facts.kind != MemberFacts::Kind::kPtx) continue;
    if (member.sm > device.architecture()) continue;
    if (newest == nullptr || member.sm > newest->sm) newest = &member;
  }
  if (newest == nullptr) return std::nullopt;
  // Code that is newer than the PTX is what runs without a trace.
  for (const image::FatbinMember& member : fatbin.members()) {
    const bool runs = member.facts.kind != MemberFacts::Kind::kPtx &&
                      member.sm / 10 == device.architecture() / 10 &&
                      member.sm <= device.architecture();
    if (runs && member.sm > newest->sm) return std::nullopt;
  }
  return Image::from_bytes(fatbin.unpack(*newest), image.name());
}

std::optional<Image> ptx_of(const KernelModule& module, const Device& device) {
  if (module.rewritten) return module.rewritten;
  if (module.compiled) return module.compiled->ptx;
  switch (module.image->kind()) {
    case ImageKind::kPtx:
      return module.image;
    case ImageKind::kFatbin:
      return ptx_of_fatbin(*module.image, device);
    case ImageKind::kCubin: {
      const std::string_view kept = image::kept_ptx(module.image->bytes());
      if (kept.empty()) return std::nullopt;
      return Image::from_bytes(kept, module.image->name());
    }
  }
  throw error(ErrorCode::kInternal, "unknown kind of image");
}

// The names in the PTX of the program's kernels.
std::unordered_map<std::string_view, std::string> symbols_of(const KernelDefinition& definition,
                                                             const KernelModule& module,
                                                             const Image& ptx) {
  const ImageFacts facts = read_facts(ptx);
  const KernelEntries entries(facts, module.compiled ? &*module.compiled : nullptr, ptx.name());
  std::unordered_map<std::string_view, std::string> symbols;
  for (const ProgramKernel* kernel : definition.kernels) {
    symbols.emplace(kernel->name, entries.of(*kernel).name);
  }
  return symbols;
}

// Instruments, and returns why nothing is, or an empty text.
std::string instrumented(const KernelDefinition& definition, const Device& device,
                         KernelModule& module) {
  const std::optional<Image> ptx = ptx_of(module, device);
  if (!ptx)
    return "its machine code comes without PTX of its architecture, and only PTX can be "
           "instrumented";
  const std::vector<std::string>& options = definition.kernels[0]->options;
  if (std::string obstacle = rewrite_obstacle(options); !obstacle.empty()) return obstacle;
  try {
    const auto parsed = ptx::ParsedModule::parse(std::string(ptx->bytes()), ptx->name());
    const auto symbols = symbols_of(definition, module, *ptx);
    const trace::Instrumented done = trace::instrument(parsed);
    for (const ProgramKernel* kernel : definition.kernels) {
      const auto found = std::ranges::find(done.kernels, symbols.at(kernel->name),
                                           &trace::InstrumentedKernel::kernel);
      if (found == done.kernels.end()) {
        return fmt::format("{} has no kernel {}", ptx->name(), symbols.at(kernel->name));
      }
      module.traces.push_back({kernel->name, found->obstacle});
    }
    if (done.module != nullptr) {
      module.instrumented = Image::from_bytes(done.module->text(), ptx->name());
    }
  } catch (const Error& unreadable) {
    if (unreadable.code() != ErrorCode::kInvalidInput) throw;
    return unreadable.message();
  }
  return "";
}

KernelTrace* trace_of(KernelModule& module, std::string_view name) {
  const auto found = std::ranges::find(module.traces, name, &KernelTrace::kernel);
  return found == module.traces.end() ? nullptr : &*found;
}

}  // namespace

void instrument_kernels(const KernelDefinition& definition, const Device& device,
                        KernelModule& module) {
  const std::string obstacle = instrumented(definition, device, module);
  if (!obstacle.empty()) {
    module.traces.clear();
    for (const ProgramKernel* kernel : definition.kernels) {
      module.traces.push_back({kernel->name, obstacle});
    }
  }
  for (const KernelTrace& trace : module.traces) {
    if (trace.obstacle.empty()) continue;
    log(LogLevel::kInfo, "{} is not instrumented: {}", trace.kernel, trace.obstacle);
  }
}

void forget_instrumented(KernelModule& module, const std::string& reason) {
  log(LogLevel::kWarning, "{} is loaded as it was, without a trace: {}",
      module.instrumented->name(), reason);
  module.instrumented.reset();
  for (KernelTrace& trace : module.traces) {
    if (trace.obstacle.empty()) trace.obstacle = reason;
  }
}

void note_registers(const Kernel& kernel, std::string_view name, const Device& device,
                    KernelFacts& facts, KernelModule& module) {
  KernelTrace* const trace = trace_of(module, name);
  if (trace == nullptr) return;
  const Image* original = nullptr;
  if (module.compiled && module.compiled->cubin) original = &*module.compiled->cubin;
  if (module.image && module.image->kind() != ImageKind::kPtx) original = &*module.image;
  if (original != nullptr && !module.rewritten) {
    const ImageFacts before = read_facts(*original);
    const KernelFacts* found = before.kernel(facts.name);
    if (found != nullptr) trace->registers_before = found->registers;
    facts.registers = trace->registers_before;
  }
  // The simulated GPU has no registers of its own.
  if (device.driver().simulator != nullptr) return;
  trace->registers = static_cast<std::uint32_t>(kernel.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
}

}  // namespace baton::load
