#include "load/rewrites.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/overloaded.h"
#include "bind/edge_mode.h"
#include "chip/chip.h"
#include "load/kernel_entries.h"
#include "load/rewrite_words.h"

namespace baton::load {
namespace {

// Whether a launch may stand right before what comes next.
bool ends_in_launch(const ProgramStep& step) {
  if (const auto* group = std::get_if<RepeatStep>(&step.action)) {
    return !group->steps.empty() && ends_in_launch(group->steps.back());
  }
  return std::holds_alternative<LaunchStep>(step.action);
}

// What all of them say, and nothing where one does not.
void meet(std::vector<overlap::EarlyArgument>& all,
          const std::vector<overlap::EarlyArgument>& more) {
  all.resize(std::min(all.size(), more.size()));
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (all[k] != more[k]) all[k] = overlap::EarlyArgument::kAny;
  }
}

}  // namespace

// A function of the module that is to be rewritten: several kernels of the program may be it.
struct Rewrites::Wanted {
  std::string symbol;
  RewriteMode mode = RewriteMode::kOff;
  std::vector<const ProgramKernel*> kernels;
  overlap::EarlyWork early;
};

Rewrites::Rewrites(const Program& program, const Device& device, const LoadOptions& options)
    : program_(program),
      pdl_(options.pdl),
      default_(options.rewrite),
      off_(bind::pdl_switched_off()),
      has_pdl_(device.architecture() >= chip::kFirstWithPdl) {
  if (!may_rewrite()) return;
  // A buffer that is a variable may be one in constant memory, and be written as a buffer.
  for (const ProgramBuffer& buffer : program_.buffers()) constant_memory_ &= !buffer.variable;
  walk(program_.steps(), false);
}

// Whether anything asks for it: most programs do not, and their launches need not be looked at.
bool Rewrites::may_rewrite() const {
  if (off_) return false;
  return std::ranges::any_of(program_.kernels(), [this](const ProgramKernel& kernel) {
    return kernel.rewrite.value_or(default_) != RewriteMode::kOff;
  });
}

void Rewrites::walk(const std::vector<ProgramStep>& steps, bool in_group) {
  // The first step of a group follows the group's last one, too.
  bool follows_launch = in_group && !steps.empty() && ends_in_launch(steps.back());
  for (const ProgramStep& step : steps) {
    if (const auto* launch = std::get_if<LaunchStep>(&step.action)) note(*launch, follows_launch);
    if (const auto* group = std::get_if<RepeatStep>(&step.action)) walk(group->steps, true);
    // A test stands before each execution of their steps.
    if (const auto* test = std::get_if<IfStep>(&step.action)) walk(test->steps, false);
    if (const auto* loop = std::get_if<WhileStep>(&step.action)) walk(loop->steps, false);
    if (const auto* group = std::get_if<ParallelStep>(&step.action)) {
      for (const std::vector<ProgramStep>& branch : group->branches) walk(branch, false);
    }
    follows_launch = ends_in_launch(step);
  }
}

void Rewrites::note(const LaunchStep& step, bool follows_launch) {
  const ProgramAttributes& defaults = program_.kernel(step.kernel)->launch;
  const PdlMode own = step.attributes.pdl.value_or(defaults.pdl.value_or(PdlMode::kAuto));
  const bool may = (own == PdlMode::kAuto ? pdl_ : own) != PdlMode::kOff;
  std::vector<overlap::EarlyArgument> params;
  for (const LaunchArgument& argument : step.args) params.push_back(use_of(argument));
  Use& use = uses_[step.kernel];
  use.may_start_early |= may;
  use.follows_launch |= may && follows_launch;
  if (use.is_launched) {
    meet(use.params, params);
  } else {
    use.params = std::move(params);
  }
  use.is_launched = true;
}

overlap::EarlyArgument Rewrites::use_of(const LaunchArgument& argument) const {
  using overlap::EarlyArgument;
  const auto use_of_buffer = [&](const BufferOffset& place) {
    const ProgramBuffer* buffer = program_.buffer(place.buffer);
    const bool is_weight =
        buffer != nullptr && !buffer->variable && buffer->role == BufferRole::kWeight;
    return is_weight ? EarlyArgument::kConstantMemory : EarlyArgument::kAny;
  };
  return std::visit(
      Overloaded{use_of_buffer, [&](const BufferView& view) { return use_of_buffer(view.place); },
                 [](const Expression&) { return EarlyArgument::kScalar; },
                 [](double) { return EarlyArgument::kScalar; },
                 [](const TypedValue&) { return EarlyArgument::kScalar; },
                 [](const RawBytes&) { return EarlyArgument::kAny; },
                 [](const TensorMapArgument&) { return EarlyArgument::kAny; },
                 [](const StructArgument&) { return EarlyArgument::kAny; },
                 [](const std::string&) { return EarlyArgument::kAny; }},
      argument.value);
}

RewriteMode Rewrites::mode_of(const ProgramKernel& kernel) const {
  const RewriteMode mode = kernel.rewrite.value_or(default_);
  const auto use = uses_.find(kernel.name);
  if (off_ || use == uses_.end() || !use->second.may_start_early) return RewriteMode::kOff;
  if (mode == RewriteMode::kAuto && !use->second.follows_launch) return RewriteMode::kOff;
  return mode;
}

std::vector<Rewrites::Wanted> Rewrites::wanted_of(const KernelDefinition& definition,
                                                  const KernelModule& module,
                                                  const Image& ptx) const {
  const ImageFacts facts = read_facts(ptx);
  const KernelEntries entries(facts, module.compiled ? &*module.compiled : nullptr, ptx.name());
  std::vector<Wanted> result;
  for (const ProgramKernel* kernel : definition.kernels) {
    const auto use = uses_.find(kernel->name);
    if (use == uses_.end()) continue;  // never launched
    const std::string& symbol = entries.of(*kernel).name;
    const auto same = [&](const Wanted& wanted) { return wanted.symbol == symbol; };
    auto at = std::find_if(result.begin(), result.end(), same);
    if (at == result.end()) {
      at = result.insert(result.end(), Wanted{symbol, RewriteMode::kOff, {}, {}});
      at->early = {use->second.params, constant_memory_};
    } else {
      meet(at->early.params, use->second.params);
    }
    for (const ProgramKernel* other : at->kernels) {
      if (kernel->rewrite == other->rewrite) continue;
      throw error_at(kernel->where, ErrorCode::kInvalidInput,
                     "the kernels {} and {} are one function, {}, and say different things of "
                     "rewrite; give both the same",
                     other->name, kernel->name, symbol);
    }
    at->mode = std::max(at->mode, mode_of(*kernel));
    at->kernels.push_back(kernel);
  }
  std::erase_if(result, [](const Wanted& wanted) { return wanted.mode == RewriteMode::kOff; });
  return result;
}

void Rewrites::apply(const KernelDefinition& definition, KernelModule& module) const {
  const bool none = std::all_of(
      definition.kernels.begin(), definition.kernels.end(),
      [this](const ProgramKernel* kernel) { return mode_of(*kernel) == RewriteMode::kOff; });
  if (none) return;
  const Image* ptx = module.compiled                           ? &module.compiled->ptx
                     : module.image->kind() == ImageKind::kPtx ? &*module.image
                                                               : nullptr;
  if (ptx == nullptr) {
    for (const ProgramKernel* kernel : definition.kernels) {
      const Wanted wanted = {"", mode_of(*kernel), {kernel}, {}};
      if (wanted.mode == RewriteMode::kOff) continue;
      note({"", "it comes as machine code, and only PTX can be rewritten", "", {}}, wanted, module);
    }
    return;
  }
  const std::vector<Wanted> wanted = wanted_of(definition, module, *ptx);
  std::string obstacle = has_pdl_ ? "" : "the device has no programmatic dependent launch";
  if (obstacle.empty()) obstacle = rewrite_obstacle(definition.kernels[0]->options);
  std::shared_ptr<const ptx::ParsedModule> parsed;
  try {
    if (obstacle.empty()) parsed = ptx::ParsedModule::parse(std::string(ptx->bytes()), ptx->name());
  } catch (const Error& unreadable) {
    if (unreadable.code() != ErrorCode::kInvalidInput) throw;
    obstacle = unreadable.message();
  }
  if (!obstacle.empty()) {
    for (const Wanted& each : wanted) note({each.symbol, obstacle, "", {}}, each, module);
    return;
  }
  std::vector<overlap::RewriteRequest> requests;
  for (const Wanted& each : wanted) {
    const ptx::Function* function = parsed->function(each.symbol);
    if (function == nullptr || !function->has_body) {
      throw error(ErrorCode::kInternal, "{} has no kernel {}", ptx->name(), each.symbol);
    }
    requests.push_back({function, each.early, trigger_of(each.mode)});
  }
  const overlap::Rewriting done = overlap::rewrite(parsed, requests);
  for (std::size_t k = 0; k < wanted.size(); ++k) note(done.kernels[k], wanted[k], module);
  if (done.module != nullptr) {
    module.rewritten = Image::from_bytes(done.module->text(), ptx->name());
  }
}

void Rewrites::note(const overlap::RewrittenKernel& done, const Wanted& wanted,
                    KernelModule& module) {
  for (const ProgramKernel* kernel : wanted.kernels) {
    const KernelRewrite& rewrite =
        module.rewrites.emplace_back(public_rewrite(kernel->name, wanted.mode, done));
    for (const KernelRewrite::Change& change : rewrite.changes) {
      log(LogLevel::kInfo, "{}: a {} at {}: {}", kernel->name, to_string(change.kind), change.where,
          change.reason);
    }
    if (!done.own.empty()) {
      log(LogLevel::kInfo, "{} keeps {}{}", kernel->name, done.own,
          done.changes.empty() ? ", and nothing else is to be done" : "");
    }
    if (!done.obstacle.empty()) {
      log(LogLevel::kInfo, "{} is not rewritten: {}", kernel->name, done.obstacle);
    }
  }
}

void Rewrites::insist(const KernelDefinition& definition, const KernelModule& module) const {
  if (!has_pdl_) return;
  for (const KernelRewrite& rewrite : module.rewrites) {
    if (rewrite.obstacle.empty()) continue;
    for (const ProgramKernel* kernel : definition.kernels) {
      const RewriteMode mode = kernel->rewrite.value_or(RewriteMode::kAuto);
      if (kernel->name != rewrite.kernel || mode <= RewriteMode::kAuto) continue;
      throw error_at(kernel->where, ErrorCode::kInvalidInput,
                     "rewrite = \"{}\", but {} cannot be rewritten: {}; leave rewrite out",
                     to_string(mode), kernel->name, rewrite.obstacle);
    }
  }
}

}  // namespace baton::load
