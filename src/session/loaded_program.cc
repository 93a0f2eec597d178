#include "session/loaded_program.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "bind/binding.h"
#include "bind/initialise.h"
#include "bundle/definitions.h"
#include "bundle/verdicts.h"
#include "edges/even_placement.h"
#include "runtime/context.h"
#include "session/advice/launch_forecasts.h"

namespace baton {
namespace {

std::vector<LaunchReport> launch_reports(const bind::BoundSteps& bound,
                                         const std::vector<bind::LaunchDecision>& decisions,
                                         std::span<const bind::PlannedStep* const> steps) {
  std::vector<LaunchReport> reports(bound.launches.size());
  for (std::uint32_t number = 0; number < reports.size(); ++number) {
    const bind::LaunchUse& use = bound.launches[number];
    LaunchReport& report = reports[number];
    report.number = number;
    report.kernel = steps[number]->label;
    report.where = steps[number]->source->where;
    report.executions = use.executions;
    report.skipped = use.skipped;
    report.conditional = bind::is_conditional(*steps[number]);
    report.config = use.config;
    if (report.config && decisions[number].early) report.config->attributes.set(pdl());
  }
  return reports;
}

std::vector<bool> symbols_of_shapes(const Program& program) {
  std::vector<bool> decides;
  for (const ProgramSymbol& symbol : program.symbols()) {
    const auto names_it = [&](const Expression& extent) {
      return std::ranges::find(extent.names(), symbol.name) != extent.names().end();
    };
    decides.push_back(std::ranges::any_of(program.buffers(), [&](const ProgramBuffer& buffer) {
      return std::ranges::any_of(buffer.shape, names_it);
    }));
  }
  return decides;
}

std::vector<bool> symbols_of_groups(const Program& program) {
  std::vector<bool> decides;
  for (const ProgramSymbol& symbol : program.symbols()) {
    decides.push_back(program.world() &&
                      std::ranges::any_of(program.world()->groups, [&](const WorldGroup& group) {
                        const std::vector<std::string>& names = group.size.names();
                        return std::ranges::find(names, symbol.name) != names.end();
                      }));
  }
  return decides;
}

bind::ParamNaming naming_by(const load::SourceNames& names) {
  return
      [&names](std::string_view kernel, std::size_t index) { return names.param(kernel, index); };
}

std::optional<PlannedSetup> plan_setup(const Program& program, const load::KernelSet& kernels,
                                       const load::SourceNames& names) {
  if (program.setup().empty()) return std::nullopt;
  return std::optional<PlannedSetup>(
      std::in_place, program, [&](const std::string& name) { return kernels.kernel(name); },
      naming_by(names));
}

}  // namespace

bind::BufferTable unbound_buffers(const Program& program) {
  bind::BufferTable table;
  for (const ProgramBuffer& buffer : program.buffers()) {
    table.emplace_back().definition = &buffer;
  }
  return table;
}

LoadedProgramState::LoadedProgramState(const Program& loaded,
                                       std::vector<load::KernelDefinition> definitions,
                                       const Device& on, const LoadOptions& options,
                                       edges::KnownVerdicts known)
    : program(loaded),
      device(on),
      kernels(program, std::move(definitions), device, options),
      names(kernels, options.use_cache),
      plan(make_plan(options.pdl)),
      setup(plan_setup(program, kernels, names)),
      requirements(program),
      decides_shape(symbols_of_shapes(program)),
      decides_groups(symbols_of_groups(program)),
      known_(std::move(known)),
      footprints_(kernels) {
  for (const ProgramBuffer& buffer : program.buffers()) {
    if (!buffer.variable) continue;
    try {
      kernels.module(buffer.variable->kernel).global(buffer.variable->name);
    } catch (Error& failure) {
      failure.at(buffer.where);
      throw;
    }
  }
}

bind::Plan LoadedProgramState::make_plan(PdlMode pdl) const {
  const ContextGuard guard(device);  // once, and not for each kernel that is resolved
  return bind::make_plan(
      program, unbound_buffers(program), pdl,
      [this](const std::string& name) { return kernels.kernel(name); }, naming_by(names));
}

std::vector<std::int64_t> ProgramValues::slots() const {
  std::vector<std::int64_t> slots;
  for (const BoundSymbol& symbol : symbols) slots.push_back(symbol.value);
  return slots;
}

ProgramValues LoadedProgramState::values(const Bindings& given) const {
  ProgramValues values{bind::bind_symbols(program, given), unbound_buffers(program)};
  requirements.check(values.slots());
  const auto rank = static_cast<std::uint32_t>(bind::place_in_world(program, given).rank);
  for (bind::BoundBuffer& buffer : values.buffers) {
    buffer.shape = bind::bind_shape(*buffer.definition, values.symbols);
    buffer.bytes = bind::bytes_of(buffer.shape, buffer.definition->dtype);
    buffer.elements = static_cast<std::int64_t>(buffer.bytes / buffer.element_size());
    buffer.shards = bind::bind_shards(program, *buffer.definition, rank, values.symbols);
    bind::check_arange(buffer);
  }
  for (const bind::BoundBuffer& buffer : values.buffers) {
    const std::optional<FrozenRows>& frozen = buffer.definition->frozen;
    if (!frozen) continue;
    const bind::BoundBuffer& counter =
        values.buffers[bind::buffer_index(values.buffers, frozen->counter)];
    if (frozen->element < counter.elements) continue;
    throw error_at(frozen->where, ErrorCode::kInvalidInput,
                   "the rows of {} are counted by {}, and {} has {} element{}",
                   buffer.definition->name, frozen->text(), frozen->counter, counter.elements,
                   counter.elements == 1 ? "" : "s");
  }
  for (const auto& [name, array] : given.memory) {
    bind::BoundBuffer& buffer = values.buffers[bind::buffer_index(values.buffers, name)];
    bind::check_memory(buffer, array.address, device);
    buffer.given = array.address;
  }
  return values;
}

ResolvedProgram LoadedProgramState::resolve(const ProgramValues& values,
                                            const bind::PeerChoice& peers) const {
  return resolve(plan, values.slots(), values.buffers, peers);
}

ResolvedProgram LoadedProgramState::resolve_setup(const ProgramValues& values) const {
  return resolve(setup->plan(), values.slots(), setup->table(values.buffers), {});
}

edges::KeptAddresses LoadedProgramState::spread_by_setup(edges::KeptAddresses kept,
                                                         const std::vector<std::int64_t>& symbols,
                                                         const bind::BufferTable& buffers) const {
  const bind::BufferTable table = setup->table(buffers);
  const auto taken = parts.take(device, setup->plan(), symbols);
  edges::EdgeJudge judge(setup->plan(), table, footprints_, has_pdl(), kept);
  bind::bind_steps(setup->plan(), symbols, table, judge, streams_of(taken));
  return judge.spread(std::move(kept));
}

LoadedProgramState::JudgedSteps LoadedProgramState::judged(
    const bind::Plan& planned, const std::vector<std::int64_t>& symbols,
    const bind::BufferTable& buffers, const std::shared_ptr<const SharedParts>& taken,
    const bind::PeerChoice& peers) const {
  // Where addresses may lie decides what kernels load, and so where they write, and what.
  constexpr unsigned kMostPasses = 8;
  const auto judge_with = [&](const edges::KeptAddresses& kept) {
    auto judge = std::make_unique<edges::EdgeJudge>(planned, buffers, footprints_, has_pdl(), kept);
    bind::BoundSteps bound =
        bind::bind_steps(planned, symbols, buffers, *judge, streams_of(taken), peers);
    return JudgedSteps{std::move(judge), std::move(bound)};
  };
  edges::KeptAddresses kept;
  for (unsigned pass = 0; pass < kMostPasses; ++pass) {
    JudgedSteps result = judge_with(kept);
    // A later step may store what an earlier one loads in the next run.
    edges::KeptAddresses spread = result.judge->spread(kept);
    if (setup && &planned == &plan) spread = spread_by_setup(std::move(spread), symbols, buffers);
    if (spread == kept) return result;
    kept = std::move(spread);
  }
  return judge_with(edges::KeptAddresses::anywhere());
}

ResolvedProgram LoadedProgramState::analyse(const bind::Plan& planned,
                                            const std::vector<std::int64_t>& symbols,
                                            const bind::BufferTable& buffers,
                                            std::shared_ptr<const SharedParts> taken,
                                            const bind::PeerChoice& peers,
                                            std::vector<edges::TriggerFacts>& triggers) const {
  auto [judged_by, bound] = judged(planned, symbols, buffers, taken, peers);
  const edges::EdgeJudge& judge = *judged_by;
  std::vector<std::string> warnings = planned.warnings;
  warnings.insert(warnings.end(), judge.warnings().begin(), judge.warnings().end());
  for (const ParallelReport& parallel : judge.parallels()) {
    for (const std::string& conflict : parallel.conflicts) {
      warnings.push_back(
          fmt::format("the parallel at {}: {}", parallel.where.to_string(), conflict));
    }
  }
  triggers = judge.trigger_facts();
  return {std::move(taken),      std::move(bound),
          judge.decisions(),     {},
          judge.reports(),       judge.collective_reports(),
          judge.parallels(),     judge.refusal(),
          judge.unsafe(),        judge.forbidden_write(),
          judge.writes_weight(), judge.decided_by_values(),
          std::move(warnings)};
}

ResolvedProgram LoadedProgramState::resolve(const bind::Plan& planned,
                                            const std::vector<std::int64_t>& symbols,
                                            const bind::BufferTable& buffers,
                                            const bind::PeerChoice& peers) const {
  // With kernels between peers the judgement is rebuilt where all kernels can be looked into.
  const bool is_made =
      peers.ranks != 0 && std::ranges::all_of(program.kernels(), [&](const auto& kernel) {
        return kernels.ptx(kernel.name) != nullptr;
      });
  const edges::Judgement* const judgement = is_made ? nullptr : known(planned, symbols, buffers);
  std::vector<edges::TriggerFacts> triggers;
  if (judgement != nullptr) triggers = judgement->trigger_facts();
  auto taken = parts.take(device, planned, symbols);
  ResolvedProgram resolved =
      judgement != nullptr ? apply(*judgement, planned, symbols, buffers, std::move(taken))
                           : analyse(planned, symbols, buffers, std::move(taken), peers, triggers);
  std::vector<const bind::PlannedStep*> steps;
  collect_launches(planned.steps, steps);
  resolved.launches = launch_reports(resolved.bound, resolved.decisions, steps);
  std::vector<const bind::PlannedLaunch*> executed;
  for (std::uint32_t number = 0; number < planned.launches; ++number) {
    const bool is_executed = resolved.bound.launches[number].executions != 0;
    executed.push_back(is_executed ? &std::get<bind::PlannedLaunch>(steps[number]->action)
                                   : nullptr);
  }
  edges::place_evenly(device, executed, triggers, resolved.edges, resolved.launches,
                      resolved.decisions);
  return resolved;
}

CheckReport LoadedProgramState::check(const Bindings& given) const {
  const ProgramValues bound = values(given);
  std::optional<Error> objection;
  if (setup) objection = resolve_setup(bound).objection();
  // What a run would execute, if its devices can access each other's memory.
  const auto ranks = static_cast<std::uint32_t>(bind::place_in_world(program, given).ranks);
  bind::PeerChoice peers{.ranks = ranks > 1 ? ranks : 0};
  if (given.collectives != CollectiveExecutor::kPeer) peers.default_bytes = 0;
  ResolvedProgram resolved = resolve(bound, peers);
  if (!objection) objection = resolved.objection();
  CheckReport result;
  result.steps = resolved.bound.steps;
  result.launches = std::move(resolved.launches);
  result.edges = std::move(resolved.edges);
  result.collective_edges = std::move(resolved.collective_edges);
  result.parallels = std::move(resolved.parallels);
  result.objection = std::move(objection);
  result.warnings = std::move(resolved.warnings);
  for (LaunchReport& launch : result.launches) {
    if (!launch.config) continue;
    launch.limits = kernel_limits(kernels.kernel(launch.kernel), *launch.config);
    // The streams of parts end with this call.
    LaunchConfig::StreamRef nowhere;
    nowhere.part_sms = launch.config->stream.part_sms;
    launch.config->stream = nowhere;
  }
  if (has_pdl()) {
    std::vector<const bind::PlannedStep*> steps;
    collect_launches(plan.steps, steps);
    std::vector<std::int64_t> slots = bound.slots();
    slots.resize(plan.slots);  // first iterations
    add_forecasts(device, steps, slots, bound.buffers, footprints_, result);
  }
  result.parts = part_reports(resolved.parts, resolved.bound.tape, plan.launches);
  return result;
}

LoadedProgram::LoadedProgram(std::shared_ptr<const LoadedProgramState> state)
    : state_(std::move(state)) {}

LoadedProgram LoadedProgram::load(const Program& program, const Device& device,
                                  const LoadOptions& options) {
  return LoadedProgram(std::make_shared<const LoadedProgramState>(
      program, load::read_definitions(program), device, options));
}

LoadedProgram LoadedProgram::load(const Bundle& bundle, const Device& device,
                                  const LoadOptions& options) {
  return load(bundle, device, TuneChoices{}, options);
}

LoadedProgram LoadedProgram::load(const Bundle& bundle, const Device& device,
                                  const TuneChoices& choices, const LoadOptions& options) {
  const Program program = with_choices(bundle.program(), choices);
  return LoadedProgram(std::make_shared<const LoadedProgramState>(
      program, bundle::read_definitions(bundle, program, device), device, options,
      bundle::known_verdicts(bundle)));
}

const Program& LoadedProgram::program() const {
  return state_->program;
}

const Device& LoadedProgram::device() const {
  return state_->device;
}

const Module& LoadedProgram::module(std::string_view kernel) const {
  return state_->kernels.module(kernel);
}

const std::vector<KernelModule>& LoadedProgram::modules() const {
  return state_->kernels.modules();
}

CheckReport LoadedProgram::check(const Bindings& bindings) const {
  return state_->check(bindings);
}

std::string_view to_string(KernelRewrite::Change::Kind kind) noexcept {
  constexpr std::string_view kNames[] = {"wait", "trigger", "plain load"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace baton
