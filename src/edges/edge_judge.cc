#include "edges/edge_judge.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>

#include "base/error.h"
#include "edges/edge_words.h"
#include "program/buffer_roles.h"

namespace baton::edges {
namespace {

using overlap::Verdict;

// Launches that are refined: judged with the values of their scalars, which takes a walk over the
// kernel's code. More than any program has that is not unrolled by its thousands.
constexpr std::uint32_t kMaxRefined = 4096;

std::array<std::uint32_t, 3> extents(const Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

struct GivenRange {
  DeviceAddress begin = 0, end = 0;
};

// The memory that callers gave, in ascending order. Ranges that overlap are joined.
std::vector<GivenRange> join_overlapping(const bind::BufferTable& buffers) {
  std::vector<GivenRange> given;
  for (const bind::BoundBuffer& buffer : buffers) {
    if (buffer.given && buffer.bytes != 0) {
      given.push_back({*buffer.given, *buffer.given + buffer.bytes});
    }
  }
  std::ranges::sort(given, {}, &GivenRange::begin);
  std::vector<GivenRange> joined;
  for (const GivenRange& range : given) {
    if (!joined.empty() && range.begin < joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

const GivenRange& range_of(const std::vector<GivenRange>& ranges, DeviceAddress address) {
  return *std::prev(std::ranges::upper_bound(ranges, address, {}, &GivenRange::begin));
}

using Given = overlap::GivenArgument;

// Whether two executions give a parameter the same but for the offset of an address.
bool differ_by_offset(const Given& a, const Given& b) {
  const bool is_address = a.kind == Given::Kind::kMemory || a.kind == Given::Kind::kTensorMap;
  return is_address && a.kind == b.kind && a.memory == b.memory &&
         a.bytes == overlap::kUnknownBytes && b.bytes == overlap::kUnknownBytes;
}

// Whether two of the arguments are addresses of one memory: their offsets may be equal or not.
bool share_memory(std::span<const Given> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == Given::Kind::kScalar) continue;
    if (arguments[i].kind == Given::Kind::kStruct || arguments[i].kind == Given::Kind::kBytes) {
      return true;
    }
    for (std::size_t k = 0; k < i; ++k) {
      const bool is_address = arguments[k].kind != Given::Kind::kScalar;
      if (is_address && arguments[k].memory == arguments[i].memory) return true;
    }
  }
  return false;
}

}  // namespace

EdgeJudge::EdgeJudge(const bind::Plan& plan, const bind::BufferTable& buffers,
                     load::Footprints& footprints, bool has_pdl)
    : buffers_(buffers),
      footprints_(footprints),
      has_pdl_(has_pdl),
      chain_([this](overlap::MemoryId id) { return memories_[id].is_constant; },
             [this](overlap::MemoryId id) { return memories_[id].counter; },
             [this](overlap::MemoryId id) { return memories_[id].is_shared; }),
      branches_([this](overlap::MemoryId id) { return memories_[id].is_constant; },
                [this](overlap::MemoryId id) -> const std::string& { return memories_[id].name; }),
      decisions_(plan.launches),
      collective_decisions_(plan.leaves),
      ends_(plan.launches + plan.leaves),
      by_values_(plan.launches),
      sites_(plan.launches) {
  // Buffers of one variable are one memory, and so are buffers whose memory overlaps. Such memory
  // is constant only if all of its buffers are.
  const std::vector<GivenRange> ranges = join_overlapping(buffers);
  std::map<DeviceAddress, overlap::MemoryId> joined;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const ProgramBuffer& definition = *buffers[i].definition;
    const auto fresh = static_cast<overlap::MemoryId>(memories_.size());
    BufferStart start{fresh, 0};
    if (const std::optional<ModuleVariable>& variable = definition.variable) {
      const auto symbol = footprints_.variable_symbol(variable->kernel, variable->name);
      start.memory = variable_id(variable->kernel, std::string(symbol), fresh);
    } else if (buffers[i].given && buffers[i].bytes != 0) {
      const DeviceAddress begin = range_of(ranges, *buffers[i].given).begin;
      start = {joined.try_emplace(begin, fresh).first->second, *buffers[i].given - begin};
    }
    const bool is_constant = facts_of(definition.role).is_constant;
    starts_.push_back(start);
    if (start.memory == fresh) {
      const bool is_read_only = (is_constant || definition.role == BufferRole::kInput) &&
                                !definition.variable && !buffers[i].given;
      memories_.push_back({definition.name, is_constant, is_read_only ? &definition : nullptr});
    } else {
      MemoryFacts& shared = memories_[start.memory];
      shared.is_constant &= is_constant;
      if (!definition.variable) shared.name += " and " + definition.name;
    }
  }
  set_counters(buffers);
}

// Memory that several buffers are, and rows that may share a line of a cache, have no frozen rows:
// an early read would also bring a part of a row that is still to be written.
void EdgeJudge::set_counters(const bind::BufferTable& buffers) {
  constexpr std::uint64_t kLine = 128;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::optional<FrozenRows>& frozen = buffers[i].definition->frozen;
    if (!frozen || bind::row_bytes(buffers[i]) % kLine != 0) continue;
    if (buffers[i].given && *buffers[i].given % kLine != 0) continue;
    const auto is_here = [&](const BufferStart& start) {
      return start.memory == starts_[i].memory;
    };
    if (std::ranges::count_if(starts_, is_here) != 1) continue;
    memories_[starts_[i].memory].counter =
        starts_[bind::buffer_index(buffers, frozen->counter)].memory;
  }
}

overlap::MemoryId EdgeJudge::variable_id(const std::string& kernel, const std::string& name,
                                         overlap::MemoryId fresh) {
  return variables_.try_emplace({footprints_.module_number(kernel), name}, fresh).first->second;
}

overlap::MemoryId EdgeJudge::variable(const std::string& kernel, std::string_view name,
                                      bool constant) {
  const auto fresh = static_cast<overlap::MemoryId>(memories_.size());
  const overlap::MemoryId id = variable_id(kernel, std::string(name), fresh);
  // Kernels write constant memory only by its address, which they get from a buffer.
  if (id == fresh) memories_.push_back({fmt::format("the variable {}", name), constant, nullptr});
  return id;
}

overlap::GivenArgument EdgeJudge::given(const bind::LaunchExecution& execution,
                                        std::size_t index) const {
  overlap::GivenArgument out;
  const bind::ArgumentPart* const argument = execution.launch.args[index].single();
  if (argument == nullptr) {
    out.kind = overlap::GivenArgument::Kind::kStruct;
    for (const bind::PlannedArgument::Part& part : execution.launch.args[index].parts()) {
      // The 128 bytes of a tensor map by value are not followed.
      if (part.value.is_tensor_map()) return {};
      const auto* const place =
          static_cast<const std::byte*>(execution.arguments[index]) + part.position;
      std::uint64_t bits = 0;
      const bool is_number = part.value.size() <= sizeof(bits);
      if (is_number) std::memcpy(&bits, place, part.value.size());
      if (part.value.buffer()) {
        const BufferStart& start = starts_[*part.value.buffer()];
        const std::uint64_t offset = bits - buffers_[*part.value.buffer()].address();
        out.fields.push_back({part.position, start.memory, start.offset + offset});
      } else if (is_number && !part.value.is_raw()) {
        out.numbers.push_back({part.position, part.value.size(), bits});
      }
    }
    return out;
  }
  if (argument->buffer()) {
    out.kind = argument->is_tensor_map() ? overlap::GivenArgument::Kind::kTensorMap
                                         : overlap::GivenArgument::Kind::kMemory;
    const BufferStart& start = starts_[*argument->buffer()];
    out.memory = start.memory;
    out.offset = start.offset + execution.places[index].offset;
    out.bytes = execution.places[index].bytes.value_or(overlap::kUnknownBytes);
    return out;
  }
  // Bytes that a program writes out hold no address: it knows none.
  out.kind = overlap::GivenArgument::Kind::kScalar;
  if (!argument->is_raw() && argument->size() <= sizeof(std::uint64_t)) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, execution.arguments[index], argument->size());
    out.bits = bits;
  }
  return out;
}

EdgeJudge::Site& EdgeJudge::site_of(const bind::LaunchExecution& execution) {
  Site& site = sites_[execution.launch.number];
  const Dim3& block = execution.config.block;
  if (site.footprint == nullptr) {
    for (std::size_t i = 0; i < execution.launch.args.size(); ++i) {
      site.arguments.push_back(given(execution, i));
    }
  } else {
    for (const std::uint32_t i : execution.launch.varying_args) {
      const overlap::GivenArgument old = std::exchange(site.arguments[i], given(execution, i));
      if (!differ_by_offset(old, site.arguments[i])) site.bound.reset();
    }
  }
  if (site.footprint == nullptr || !(site.block == block)) {
    site.bound.reset();
    site.footprint = &footprints_.of(execution.step.label, block);
    site.block = block;
  }
  return site;
}

// Most executions of a launch differ from the last one by offsets alone.
overlap::BoundLaunch EdgeJudge::bind(const bind::LaunchExecution& execution, Site& site) {
  const LaunchConfig& config = execution.config;
  if (site.bound && site.grid == config.grid) {
    for (overlap::BoundAccess& access : site.bound->accesses) {
      if (access.argument == overlap::kNoArgument) continue;
      access.offset = site.arguments[access.argument].offset;
    }
    return *site.bound;
  }
  site.bound.reset();
  overlap::BoundLaunch bound =
      overlap::bind(*site.footprint, site.arguments, extents(config.block), extents(config.grid),
                    variables_of(&execution.step.label));
  bound.number = execution.launch.number;
  if (!share_memory(site.arguments) && !bound.has_wide_places) {
    site.bound = bound;
    site.grid = config.grid;
  }
  return bound;
}

std::vector<overlap::GivenArgument> EdgeJudge::arguments_of(const Execution& past) const {
  const auto own = std::span(varying_).subspan(past.varying, past.arguments);
  if (past.launch == nullptr) return {own.begin(), own.end()};
  std::vector<overlap::GivenArgument> arguments = sites_[past.launch->number].arguments;
  const std::vector<std::uint32_t>& numbers = past.launch->varying_args;
  for (std::size_t k = 0; k < numbers.size(); ++k) arguments[numbers[k]] = own[k];
  return arguments;
}

overlap::VariableNumber EdgeJudge::variables_of(const std::string* kernel) {
  // Nothing else names variables of Baton's own kernels.
  if (kernel == nullptr) {
    return [this](std::string_view, bool) { return shared_memory(); };
  }
  return [this, kernel](std::string_view name, bool constant) {
    return variable(*kernel, name, constant);
  };
}

overlap::MemoryId EdgeJudge::shared_memory() {
  if (!shared_) {
    shared_ = static_cast<overlap::MemoryId>(memories_.size());
    MemoryFacts& facts = memories_.emplace_back();
    facts.name = "memory that the ranks write for each other";
    facts.is_shared = true;
    chain_.expect_shared();
  }
  return *shared_;
}

void EdgeJudge::note_values(const Execution& execution) {
  if (execution.launch != nullptr) {
    by_values_[execution.launch->number] = true;
  } else {
    by_collective_values_ = true;
  }
}

void EdgeJudge::follow(const overlap::BoundLaunch& bound, const Candidate& candidate, bool early) {
  branches_.add(bound, candidate.step.label, early);
  chain_.follow(bound, early);
  if (!early) {
    history_.clear();
    varying_.clear();
  }
  Execution& now = history_.emplace_back(candidate.now);
  now.varying = varying_.size();
  if (now.launch == nullptr) {
    varying_.insert(varying_.end(), candidate.arguments.begin(), candidate.arguments.end());
  } else {
    for (const std::uint32_t i : now.launch->varying_args) {
      varying_.push_back(candidate.arguments[i]);
    }
  }
  now.arguments = varying_.size() - now.varying;
  last_ = candidate.number;
  last_part_ = candidate.part;
}

Verdict EdgeJudge::judge(overlap::BoundLaunch& bound, const Candidate& candidate) {
  Verdict verdict = chain_.judge(bound);
  if (verdict.kind == EdgeVerdict::kProven) return verdict;
  note_values(candidate.now);
  for (const Execution& past : history_) note_values(past);
  if (refined_ >= kMaxRefined || budget_.witness_steps == 0) {
    // Only a refined launch shows a witness: an access that some thread certainly makes.
    if (verdict.kind == EdgeVerdict::kUnsafe) {
      verdict.kind = EdgeVerdict::kUnknown;
      verdict.cause = EdgeCause::kNotRefined;
    }
    return verdict;
  }
  ++refined_;
  const overlap::LaunchExtents& extents = candidate.now.extents;
  const auto arguments = candidate.arguments;
  overlap::refine(bound, arguments, extents.block, extents.grid);
  overlap::ExaminedLaunch own(*bound.footprint, {arguments.begin(), arguments.end()}, extents,
                              variables_of(candidate.now.kernel), budget_);
  std::map<std::uint32_t, overlap::ExaminedLaunch> earlier;  // by position
  overlap::LaunchEvidence evidence(own, [&](std::uint32_t position) -> overlap::ExaminedLaunch& {
    if (const auto known = earlier.find(position); known != earlier.end()) return known->second;
    const Execution& past = history_[position];
    return earlier
        .try_emplace(position, *past.footprint, arguments_of(past), past.extents,
                     variables_of(past.kernel), budget_)
        .first->second;
  });
  return chain_.judge(bound, &evidence);
}

EdgeJudge::Edge& EdgeJudge::edge_to(std::uint32_t number) {
  const auto [entry, is_new] = edges_.try_emplace({number, last_});
  if (is_new) {
    entry->second.report.from = last_;
    entry->second.report.to = number;
  }
  return entry->second;
}

void EdgeJudge::note_unsafe(const Candidate& candidate, const std::string& reason) {
  if (candidate.edge.mode == PdlMode::kOff || unsafe_) return;
  const auto name = [this](std::uint32_t number) {
    return is_launch(number) ? Names::launch_name(number) : ends_[number]->label;
  };
  unsafe_ = error_at(candidate.step.source->where, ErrorCode::kFault,
                     "the edge from {} to {} is unsafe: {}; mend the kernel, or "
                     "write pdl = \"off\"",
                     name(last_), name(candidate.number), reason);
}

void EdgeJudge::decide(const Candidate& candidate, const Verdict& verdict,
                       const std::string& reason, Decision& decision) {
  const bind::PlannedEdge& edge = candidate.edge;
  const auto full = [&](EdgeDecision why) {
    if (!decision.full) decision.full = why;
  };
  const bool is_unsafe = verdict.kind == EdgeVerdict::kUnsafe;
  if (is_unsafe) note_unsafe(candidate, reason);
  if (edge.mode != PdlMode::kOff && candidate.part != last_part_) {
    full(EdgeDecision::kOtherPart);
    if (edge.insisted && edge.mode != PdlMode::kAuto && !refusal_) {
      refusal_ = error_at(edge.where, ErrorCode::kInvalidInput,
                          "pdl = \"{}\", but the launch before runs on {} SMs: give both the same "
                          "sms, or write pdl = \"off\"",
                          to_string(edge.mode), last_part_ ? "another part of the" : "all");
    }
    return;
  }
  switch (edge.mode) {
    case PdlMode::kOff:
      return full(edge.cannot_wait ? EdgeDecision::kNoWait : EdgeDecision::kOff);
    case PdlMode::kForce:
      decision.early = EdgeDecision::kForced;
      return;
    case PdlMode::kOn:
      if (is_unsafe) {
        full(EdgeDecision::kUnsafe);
        if (edge.insisted && !refusal_) {
          refusal_ = error_at(edge.where, ErrorCode::kFault,
                              "pdl = \"on\", but {}; mend that, or write pdl = \"off\"; \"force\" "
                              "takes it as it is",
                              reason);
        }
      } else if (verdict.cause == EdgeCause::kNoWait) {
        full(EdgeDecision::kNoWait);
        if (edge.insisted && !refusal_) {
          refusal_ = error_at(edge.where, ErrorCode::kInvalidInput,
                              "pdl = \"on\", but {}; call cudaGridDependencySynchronize() in it, "
                              "or write pdl = \"off\"; \"force\" takes it as it is",
                              reason);
        }
      } else {
        decision.early = EdgeDecision::kAsked;
      }
      return;
    case PdlMode::kAuto:
      if (!has_pdl_) return full(EdgeDecision::kNoPdl);
      if (verdict.kind != EdgeVerdict::kProven) return full(EdgeDecision::kNotProven);
      // Nothing shows that a cooperative grid fits with the launch before it.
      if (candidate.cooperative) return full(EdgeDecision::kCooperative);
      decision.early = EdgeDecision::kProven;
      return;
  }
}

void EdgeJudge::check_writes(const bind::LaunchExecution& execution,
                             const overlap::BoundLaunch& bound,
                             std::span<const overlap::GivenArgument> arguments) {
  for (const overlap::BoundAccess& access : bound.accesses) {
    if (!access.group->writes || !access.memory || access.is_one_of) continue;
    const ProgramBuffer* const buffer = memories_[*access.memory].read_only;
    if (buffer == nullptr) continue;
    if (!checked_writes_.emplace(execution.launch.number, *access.memory).second) continue;
    const std::string text = fmt::format(
        "the buffer {}, which has the role {}: no kernel may "
        "write it",
        buffer->name, to_string(buffer->role));
    by_values_[execution.launch.number] = true;
    const LaunchConfig& config = execution.config;
    const overlap::Witnesses found(*bound.footprint, arguments,
                                   {extents(config.block), extents(config.grid)},
                                   variables_of(&execution.step.label), budget_.witness_steps);
    if (found.has(*access.group, *access.memory)) {
      if (forbidden_write_) continue;
      writes_weight_ = buffer->role == BufferRole::kWeight;
      forbidden_write_ = error_at(execution.step.source->where, ErrorCode::kFault,
                                  "{} writes at {} {}; give the buffer the role inout, or mend the "
                                  "kernel",
                                  execution.step.label, access.group->where, text);
    } else {
      warnings_.push_back(
          fmt::format("{} may write at {} {}", execution.step.label, access.group->where, text));
    }
  }
}

void EdgeJudge::set_verdict(Edge& edge, const Verdict& verdict) const {
  edge.is_judged = true;
  edge.report.verdict = verdict.kind;
  edge.report.cause = verdict.cause;
  edge.report.reason = describe(
      verdict,
      {.memory = [this](overlap::MemoryId id) { return memories_[id].name; },
       .kernel =
           [this](const overlap::Footprint& footprint) { return footprints_.name(footprint); },
       .launch =
           [this](std::uint32_t number) {
             return is_launch(number) ? Names::launch_name(number) : ends_[number]->label;
           }});
}

void EdgeJudge::note_empty_grid(std::uint32_t number, EdgeCause cause) {
  Edge& edge = edge_to(number);
  if (edge.is_judged) return;
  Verdict verdict;
  verdict.kind = EdgeVerdict::kUnknown;
  verdict.cause = cause;
  set_verdict(edge, verdict);
}

bool EdgeJudge::launch(const bind::LaunchExecution& execution) {
  const bind::PlannedLaunch& launch = execution.launch;
  Decision& decision = decisions_[launch.number];
  decision.edge = &launch.edge;
  ends_[launch.number] = &execution.step;
  Site& site = site_of(execution);
  overlap::BoundLaunch bound = bind(execution, site);
  if (bound.by_value) by_values_[launch.number] = true;
  decision.waits &= bound.footprint->waits >= overlap::Footprint::Waits::kOne;
  decision.trigger_facts.triggers |= bound.footprint->triggers;
  decision.trigger_facts.lets_in_early |= bound.footprint->triggers_before_wait || !bound.waits;
  check_writes(execution, bound, site.arguments);
  const LaunchConfig& config = execution.config;
  Candidate candidate{launch.number,        execution.step, launch.edge, execution.part,
                      config.cooperative(), site.arguments, {}};
  candidate.now.launch = &launch;
  candidate.now.kernel = &execution.step.label;
  candidate.now.footprint = site.footprint;
  candidate.now.extents = {extents(config.block), extents(config.grid)};
  bool early = false;
  if (execution.before == bind::Before::kSkippedLaunch) {
    note_empty_grid(launch.number, EdgeCause::kAfterEmptyGrid);
  } else if (execution.before == bind::Before::kLaunch) {
    early = judge_edge(bound, candidate, decision);
  }
  follow(bound, candidate, early);
  return early;
}

bool EdgeJudge::judge_edge(overlap::BoundLaunch& bound, const Candidate& candidate,
                           Decision& decision) {
  const bool never_waits = bound.footprint->waits == overlap::Footprint::Waits::kNever;
  Verdict verdict;
  if (never_waits && candidate.edge.mode != PdlMode::kForce) {
    // A kernel without a wait was not made for early starts, and is not wrong.
    verdict.kind = EdgeVerdict::kUnknown;
    verdict.cause = EdgeCause::kNoWait;
    verdict.own_kernel = bound.footprint;
  } else {
    verdict = judge(bound, candidate);
  }
  Edge& edge = edge_to(candidate.number);
  if (!edge.overlaps || verdict.kind > edge.report.verdict) {
    set_verdict(edge, verdict);
    const bind::PlannedLaunch* const launch = candidate.now.launch;
    const auto cause =
        launch == nullptr ? std::nullopt : missing_wait_cause(launch->kernel.facts());
    if (never_waits && cause) edge.report.reason += "; " + *cause;
  }
  edge.overlaps = true;
  decide(candidate, verdict, edge.report.reason, decision);
  return decision.is_early();
}

bool EdgeJudge::kernel(const bind::CollectiveExecution& execution) {
  const std::uint32_t leaf = execution.step.leaf;
  const auto number = static_cast<std::uint32_t>(decisions_.size() + leaf);
  Decision& decision = collective_decisions_[leaf];
  decision.edge = &execution.collective.edge;
  ends_[number] = &execution.step;
  const PeerLaunch launch = peer_launch(
      execution.collective, execution.values,
      [this](std::uint32_t buffer) { return starts_[buffer]; }, shared_memory());
  overlap::BoundLaunch bound =
      overlap::bind(*launch.footprint, launch.arguments, launch.extents.block, launch.extents.grid,
                    variables_of(nullptr));
  bound.number = number;
  if (bound.by_value) by_collective_values_ = true;
  Candidate candidate{
      number, execution.step, execution.collective.edge, {}, false, launch.arguments, {}};
  candidate.now.footprint = launch.footprint;
  candidate.now.extents = launch.extents;
  bool early = false;
  // A launch does not overlap with an empty grid before it.
  if (execution.before == bind::Before::kLaunch) early = judge_edge(bound, candidate, decision);
  follow(bound, candidate, early);
  return early;
}

void EdgeJudge::skip(const bind::PlannedLaunch& launch, const bind::PlannedStep& step,
                     bind::Before before, std::optional<std::uint32_t> part) {
  decisions_[launch.number].edge = &launch.edge;
  ends_[launch.number] = &step;
  if (before == bind::Before::kLaunch || before == bind::Before::kSkippedLaunch) {
    note_empty_grid(launch.number, EdgeCause::kEmptyGrid);
  }
  chain_.cut();
  branches_.skip();
  last_ = launch.number;
  last_part_ = part;
}

template <typename Report>
void EdgeJudge::report(const Edge& edge, Report& report) const {
  const Decision& decision = decision_of(edge.report.to);
  report.verdict = edge.report.verdict;
  report.cause = edge.report.cause;
  report.reason = edge.report.reason;
  report.programmatic = edge.overlaps && decision.is_early();
  report.decision = !edge.overlaps        ? EdgeDecision::kEmptyGrid
                    : report.programmatic ? *decision.early
                                          : *decision.full;
  if (report.decision == EdgeDecision::kNotProven && report.verdict == EdgeVerdict::kProven) {
    report.decision = EdgeDecision::kOtherEdge;
  }
  report.decision_reason = report.decision == EdgeDecision::kEmptyGrid
                               ? report.reason
                               : describe(report.decision, *decision.edge);
}

std::vector<EdgeReport> EdgeJudge::reports() const {
  std::vector<EdgeReport> result;
  for (const auto& [key, edge] : edges_) {
    if (!is_launch(key.first) || !is_launch(key.second)) continue;
    EdgeReport& added = result.emplace_back();
    added.from = edge.report.from;
    added.to = edge.report.to;
    report(edge, added);
  }
  return result;
}

EdgeEnd EdgeJudge::end_of(std::uint32_t number) const {
  const bind::PlannedStep& step = *ends_[number];
  EdgeEnd end{step.label, std::nullopt, step.source->where};
  if (is_launch(number)) end.launch = number;
  return end;
}

std::vector<CollectiveEdgeReport> EdgeJudge::collective_reports() const {
  std::vector<std::pair<std::uint32_t, const Edge*>> found;  // by the leaf of the later end
  for (const auto& [key, edge] : edges_) {
    if (is_launch(key.first) && is_launch(key.second)) continue;
    found.emplace_back(ends_[key.first]->leaf, &edge);
  }
  std::ranges::stable_sort(found, {}, &std::pair<std::uint32_t, const Edge*>::first);
  std::vector<CollectiveEdgeReport> result;
  for (const auto& [leaf, edge] : found) {
    CollectiveEdgeReport& added = result.emplace_back();
    added.from = end_of(edge->report.from);
    added.to = end_of(edge->report.to);
    report(*edge, added);
  }
  return result;
}

std::vector<bind::LaunchDecision> EdgeJudge::decisions() const {
  std::vector<bind::LaunchDecision> result;
  for (const Decision& decision : decisions_) {
    bind::LaunchDecision& out = result.emplace_back();
    out.early = decision.is_early();
    out.waits = decision.waits;
  }
  return result;
}

bind::DecidedByValues EdgeJudge::decided_by_values() const {
  const auto is_early = [](const std::vector<Decision>& all) {
    return std::ranges::any_of(all, &Decision::is_early);
  };
  return {by_values_, is_early(decisions_) || is_early(collective_decisions_),
          by_collective_values_};
}

std::vector<TriggerFacts> EdgeJudge::trigger_facts() const {
  std::vector<TriggerFacts> result;
  for (const Decision& decision : decisions_) result.push_back(decision.trigger_facts);
  return result;
}

}  // namespace baton::edges
