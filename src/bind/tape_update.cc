#include "bind/tape_update.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "base/error.h"
#include "bind/evaluate.h"

namespace baton::bind {

class TapeUses::Builder {
 public:
  Builder(const Plan& plan, Tape& tape, const DecidedByValues& decided, TapeUses& out)
      : tape_(tape), decided_(decided), out_(out), slots_(tape.slots()), launches_(plan.launches) {
    fix_counts(plan.steps);
    for (std::size_t slot = 0; slot < out_.symbols_.size(); ++slot) {
      const auto uses = [slot](const PlannedPart& part) { return part.sms.uses_slot(slot); };
      if (std::ranges::any_of(plan.parts, uses)) out_.symbols_[slot].is_fixed = true;
    }
  }

  void run() { walk(tape_.steps); }

 private:
  struct Launch {
    bool is_sent = false;  // an execution that is sent was seen
    // By symbol: the arguments that depend on it and vary between executions.
    std::vector<std::vector<std::uint32_t>> varying = {};
  };

  void fix_counts(const std::vector<PlannedStep>& steps) {
    for (const PlannedStep& step : steps) {
      const auto* inner = inner_steps(step);
      if (inner == nullptr) continue;
      for (std::size_t slot = 0; slot < out_.symbols_.size(); ++slot) {
        const auto* repeat = std::get_if<PlannedRepeat>(&step.action);
        const auto* condition = std::get_if<PlannedCondition>(&step.action);
        const bool counts = (repeat != nullptr && repeat->count.uses_slot(slot)) ||
                            (condition != nullptr && uses_slot(condition->test, slot));
        if (counts) out_.symbols_[slot].is_fixed = true;
      }
      fix_counts(*inner);
    }
  }

  void walk(std::vector<TapeStep>& steps) {
    for (TapeStep& step : steps) {
      std::visit([&](auto& action) { visit(step.step, action); }, step.action);
    }
  }

  void visit(const PlannedStep*, TapeIndex& index) { enter(index.slot, index.value); }
  void visit(const PlannedStep*, TapeLoop& loop) {
    enter(loop.group->slot, 0);
    walk(loop.steps);
  }
  void visit(const PlannedStep*, TapeCondition& condition) { walk(condition.steps); }
  void visit(const PlannedStep*, TapeParallel& parallel) { walk(parallel.steps); }
  void visit(const PlannedStep*, TapeBranch& branch) { walk(branch.steps); }
  void visit(const PlannedStep*, TapeAfter&) {}
  void visit(const PlannedStep*, TapeEvents&) {}
  void enter(std::uint32_t slot, std::int64_t index) {
    slots_[slot] = index;
    is_saved_ = false;
  }

  void visit(const PlannedStep* step, TapeLaunch& launch) {
    const PlannedLaunch& planned = std::get<PlannedLaunch>(step->action);
    Launch& seen = launches_[planned.number];
    if (seen.varying.empty()) {
      seen.varying.resize(out_.symbols_.size());
      for (std::size_t slot = 0; slot < out_.symbols_.size(); ++slot) {
        add_config(planned, launch, slot);
      }
    }
    if (launch.arguments == nullptr) return;
    if (!std::exchange(seen.is_sent, true)) {
      for (std::size_t slot = 0; slot < out_.symbols_.size(); ++slot) {
        seen.varying[slot] = add_shared_arguments(planned, launch, slot);
      }
    }
    for (std::size_t slot = 0; slot < out_.symbols_.size(); ++slot) {
      if (seen.varying[slot].empty()) continue;
      out_.symbols_[slot].arguments.push_back({&launch, seen.varying[slot], context(), false});
    }
  }

  void add_config(const PlannedLaunch& planned, TapeLaunch& launch, std::size_t slot) {
    Users& users = out_.symbols_[slot];
    const bool changes_rest =
        uses_slot(planned.block, slot) ||
        std::ranges::any_of(planned.attributes, [&](const PlannedAttribute& attribute) {
          return attribute.uses_slot(slot);
        });
    const bool changes = uses_slot(planned.grid, slot) || uses_slot(planned.shared, slot);
    if (changes_rest || (changes && (decided_.configs || planned.config_varies))) {
      users.is_fixed = true;
    }
    if (changes) users.configs.push_back({&planned, launch.site, context()});
    const bool is_used = changes || std::ranges::any_of(planned.args, [&](const auto& argument) {
                           return argument.uses_slot(slot);
                         });
    if (is_used && (decided_.arguments[planned.number] || launch.patched)) users.is_fixed = true;
  }

  // Adds the arguments that all executions share, and returns the others.
  std::vector<std::uint32_t> add_shared_arguments(const PlannedLaunch& planned, TapeLaunch& launch,
                                                  std::size_t slot) {
    std::vector<std::uint32_t> shared, varying;
    for (std::uint32_t i = 0; i < planned.args.size(); ++i) {
      if (!planned.args[i].uses_slot(slot)) continue;
      const bool varies = std::ranges::binary_search(planned.varying_args, i);
      (varies ? varying : shared).push_back(i);
    }
    if (!shared.empty()) {
      out_.symbols_[slot].arguments.push_back({&launch, std::move(shared), context(), true});
    }
    return varying;
  }

  template <typename Planned>
  void visit(const PlannedStep* step, TapeMove<Planned>& move) {
    for (std::size_t slot = 0; slot < out_.symbols_.size(); ++slot) {
      if (!uses_slot(*move.planned, slot)) continue;
      Users& users = out_.symbols_[slot];
      const bool is_judged = decided_.moves.contains(step->leaf) ||
                             (std::is_same_v<Planned, PlannedCollective> && decided_.collectives);
      if (move.patched || is_judged) users.is_fixed = true;
      users.moves.push_back(Move<Planned>{&move, context()});
    }
  }

  std::uint32_t context() {
    if (!is_saved_) out_.contexts_.push_back(slots_);
    is_saved_ = true;
    return static_cast<std::uint32_t>(out_.contexts_.size() - 1);
  }

  Tape& tape_;
  const DecidedByValues& decided_;
  TapeUses& out_;
  std::vector<std::int64_t> slots_;
  bool is_saved_ = false;  // the newest context has these slots
  std::vector<Launch> launches_;
};

TapeUses::TapeUses(const Plan& plan, std::size_t symbols, Tape& tape,
                   const DecidedByValues& decided)
    : symbols_(symbols) {
  Builder(plan, tape, decided, *this).run();
}

void TapeUpdate::clear() {
  changes_.moves = false;
  changes_.sites.clear();
  changes_.launches.clear();
  targets_.clear();
  bytes_.clear();
  configs_.clear();
  moves_.clear();
}

bool TapeUpdate::evaluate(const Tape& tape, TapeUses& uses, std::span<const std::int64_t> symbols,
                          const BufferTable& buffers) {
  clear();
  symbols_.assign(symbols.begin(), symbols.end());
  const auto changed = [&](std::size_t slot) { return symbols[slot] != tape.slots()[slot]; };
  for (std::size_t slot = 0; slot < symbols.size(); ++slot) {
    if (changed(slot) && uses.symbols_[slot].is_fixed) return false;
  }
  for (std::vector<std::int64_t>& context : uses.contexts_) {
    std::ranges::copy(symbols, context.begin());
  }
  try {
    for (std::size_t slot = 0; slot < symbols.size(); ++slot) {
      if (!changed(slot)) continue;
      const TapeUses::Users& users = uses.symbols_[slot];
      for (const TapeUses::Config& use : users.configs) {
        if (!evaluate(use, uses.contexts_[use.context], buffers)) return false;
      }
      for (const TapeUses::Arguments& use : users.arguments) {
        evaluate(use, uses.contexts_[use.context], buffers);
      }
      for (const auto& any : users.moves) {
        const bool stays = std::visit(
            [&](const auto& use) {
              return evaluate(tape, use, uses.contexts_[use.context], buffers);
            },
            any);
        if (!stays) return false;
      }
    }
  } catch (const Error&) {
    return false;  // binding anew tells what is wrong, at its place
  }
  return true;
}

void TapeUpdate::evaluate(const TapeUses::Arguments& use, Slots slots, const BufferTable& buffers) {
  const PlannedLaunch& launch = *use.launch->site->launch;
  if (use.shared) {
    changes_.sites.push_back(use.launch->site);
  } else {
    changes_.launches.push_back(use.launch);
  }
  for (const std::uint32_t number : use.numbers) {
    const PlannedArgument& argument = launch.args[number];
    const std::size_t place = bytes_.size();
    bytes_.resize(place + argument.size());
    argument.write(slots, buffers, bytes_.data() + place);
    targets_.push_back({use.launch->arguments[number], argument.size()});
  }
}

bool TapeUpdate::evaluate(const TapeUses::Config& use, Slots slots, const BufferTable& buffers) {
  const LaunchValues values = bind::evaluate(*use.launch, slots, buffers);
  const bool was_skipped = use.site->forms.empty();
  if (values.skipped || was_skipped) return values.skipped && was_skipped;
  LaunchForm& form = use.site->forms.front();
  if (same_config(*form.config, values.config)) return true;
  LaunchConfig placed = values.config;
  if (use.site->part) placed.stream = *use.site->part;
  use.launch->kernel.check(placed);
  changes_.sites.push_back(use.site);
  configs_.push_back({use.site, &form, values.config});
  return true;
}

void TapeUpdate::commit(Tape& tape) {
  const std::byte* from = bytes_.data();
  for (const Bytes& bytes : targets_) {
    if (bytes.size != 0) std::memcpy(bytes.target, from, bytes.size);
    from += bytes.size;
  }
  for (const auto& any : moves_) {
    std::visit([](const auto& changed) { changed.move->values = changed.values; }, any);
  }
  for (NewConfig& changed : configs_) change_config(*changed.site, *changed.form, changed.config);
  tape.set_symbols(symbols_);
}

}  // namespace baton::bind
