#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "chip/chip.h"
#include "session/loaded_program.h"

// The verdicts about a loaded program: made, or taken from its bundle.

namespace baton {
namespace {

using edges::KeptJudgement;

void add(Sha256& hash, std::uint64_t number) {
  hash.update({reinterpret_cast<const char*>(&number), sizeof number});
}

std::string state_of(const std::optional<bool>& fact) {
  return !fact ? "unknown" : *fact ? "yes" : "no";
}

// The kernel whose image is another one than the judgement was made from; null if there is none.
const std::string* stale_proof(const KeptJudgement& kept,
                               const std::vector<KeptJudgement::Proof>& now) {
  for (const KeptJudgement::Proof& proof : now) {
    const auto same = [&](const KeptJudgement::Proof& old) {
      return old.kernel == proof.kernel && old.ptx == proof.ptx;
    };
    if (std::ranges::none_of(kept.proofs, same)) return &proof.kernel;
  }
  return nullptr;
}

// Why none of the judgements is used.
void log_refusal(const std::string& bundle, const std::vector<KeptJudgement>& all,
                 const KeptJudgement& wanted) {
  const std::string* stale = nullptr;
  bool is_there = false, is_fresh = false;
  for (const KeptJudgement& kept : all) {
    if (kept.symbols != wanted.symbols || kept.of_setup != wanted.of_setup) continue;
    is_there = true;
    const std::string* const other = stale_proof(kept, wanted.proofs);
    is_fresh |= other == nullptr;
    if (other != nullptr) stale = other;
  }
  if (!is_there) {
    log(LogLevel::kInfo, "{}: it has no verdicts for {}; they are made now", bundle,
        wanted.symbols.empty() ? "these edges" : wanted.symbols);
    return;
  }
  log(LogLevel::kInfo, "{}: its verdicts are not used, and made again: {}", bundle,
      is_fresh ? "they were made for other options"
               : fmt::format("the kernel {} has another image than they were made from", *stale));
}

}  // namespace

void collect_launches(const std::vector<bind::PlannedStep>& steps,
                      std::vector<const bind::PlannedStep*>& out) {
  for (const bind::PlannedStep& step : steps) {
    if (const auto* inner = bind::inner_steps(step)) {
      collect_launches(*inner, out);
    } else if (std::holds_alternative<bind::PlannedLaunch>(step.action)) {
      out.push_back(&step);
    }
  }
}

bool LoadedProgramState::has_pdl() const {
  return device.architecture() >= chip::kFirstWithPdl;
}

const std::vector<KeptJudgement::Proof>& LoadedProgramState::proofs() const {
  std::call_once(proofs_made_, [&] {
    for (const ProgramKernel& kernel : program.kernels()) {
      KeptJudgement::Proof& proof = proofs_.emplace_back();
      proof.kernel = kernel.name;
      const Image* const ptx = kernels.ptx(kernel.name);
      if (ptx == nullptr) continue;
      const std::string_view text = ptx->bytes();
      proof.ptx = sha256({text.data(), text.size() + 1});  // one NUL follows it
    }
  });
  return proofs_;
}

const std::vector<KeptJudgement>& LoadedProgramState::kept() const {
  std::call_once(kept_read_, [&] {
    if (known_.read) kept_ = known_.read();
  });
  return kept_;
}

KeptJudgement LoadedProgramState::basis(const bind::Plan& planned,
                                        const std::vector<std::int64_t>& symbols) const {
  KeptJudgement basis;
  basis.proofs = proofs();
  basis.of_setup = setup && &planned == &setup->plan();
  Sha256 hash;
  hash.update_field("baton judgement");
  add(hash, edges::kJudgementRules);
  add(hash, has_pdl());
  add(hash, basis.of_setup);
  hash.update_field({reinterpret_cast<const char*>(known_.program.data()), known_.program.size()});
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::string& name = program.symbols()[i].name;
    hash.update_field(name);
    add(hash, static_cast<std::uint64_t>(symbols[i]));
    basis.symbols += fmt::format("{}{}={}", i == 0 ? "" : " ", name, symbols[i]);
  }
  for (const KeptJudgement::Proof& proof : basis.proofs) {
    hash.update_field(proof.kernel);
    hash.update_field({reinterpret_cast<const char*>(proof.ptx.data()), proof.ptx.size()});
    // All that is known of machine code.
    const KernelFacts& facts = kernels.kernel(proof.kernel).facts();
    hash.update_field(facts.name);
    hash.update_field(state_of(facts.waits));
    hash.update_field(state_of(facts.triggers));
  }
  std::vector<const bind::PlannedStep*> steps;
  collect_launches(planned.steps, steps);
  for (const bind::PlannedStep* step : steps) {
    const bind::PlannedEdge& edge = std::get<bind::PlannedLaunch>(step->action).edge;
    for (const int part : {static_cast<int>(edge.mode), static_cast<int>(edge.source),
                           static_cast<int>(edge.insisted), static_cast<int>(edge.cannot_wait)}) {
      add(hash, static_cast<std::uint64_t>(part));
    }
  }
  basis.key = hash.finish();
  return basis;
}

const edges::Judgement* LoadedProgramState::known(const bind::Plan& planned,
                                                  const std::vector<std::int64_t>& symbols,
                                                  const bind::BufferTable& buffers) const {
  if (kept().empty() || !edges::holds_with_given_memory(buffers)) return nullptr;
  const KeptJudgement wanted = basis(planned, symbols);
  for (const KeptJudgement& each : kept()) {
    if (each.key != wanted.key || !each.judgement.is_sound(planned.launches)) continue;
    log(LogLevel::kDebug, "{}: the verdicts for {} are taken from the bundle", known_.name,
        wanted.symbols.empty() ? "its edges" : wanted.symbols);
    return &each.judgement;
  }
  log_refusal(known_.name, kept(), wanted);
  return nullptr;
}

ResolvedProgram LoadedProgramState::apply(const edges::Judgement& judgement,
                                          const bind::Plan& planned,
                                          const std::vector<std::int64_t>& symbols,
                                          const bind::BufferTable& buffers,
                                          std::shared_ptr<const SharedParts> taken) const {
  edges::KnownJudge judge(judgement);
  ResolvedProgram resolved{taken,
                           bind::bind_steps(planned, symbols, buffers, judge, streams_of(taken)),
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           {},
                           false,
                           {},
                           planned.warnings};
  resolved.decisions = judgement.decisions();
  resolved.edges = judgement.edges;
  resolved.decided_by_values = judgement.decided_by_values();
  return resolved;
}

std::vector<KeptJudgement> LoadedProgramState::judge(const ProgramValues& values) const {
  std::vector<KeptJudgement> all;
  const auto add_judgement = [&](const bind::Plan& planned, const bind::BufferTable& buffers) {
    const auto taken = parts.take(device, planned, values.slots());
    const JudgedSteps steps = judged(planned, values.slots(), buffers, taken, {});
    auto judgement = edges::keep(*steps.judge);
    if (!judgement) return;
    all.push_back(basis(planned, values.slots()));
    all.back().judgement = std::move(*judgement);
  };
  if (setup) add_judgement(setup->plan(), setup->table(values.buffers));
  add_judgement(plan, values.buffers);
  return all;
}

}  // namespace baton
