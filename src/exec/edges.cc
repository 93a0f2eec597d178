#include "exec/edges.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace baton::exec {
namespace {

using overlap::Verdict;

// Launches that are looked at with the values of their scalars, which takes a walk over the
// kernel's code: more than any program has that is not unrolled by its thousands.
constexpr std::uint32_t kMaxRefined = 4096;

EdgeVerdict public_verdict(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::kProven:
      return EdgeVerdict::kProven;
    case Verdict::Kind::kUnsafe:
      return EdgeVerdict::kUnsafe;
    case Verdict::Kind::kUnknown:
      break;
  }
  return EdgeVerdict::kUnknown;
}

std::array<std::uint32_t, 3> extents(const Dim3& dim) {
  return {dim.x, dim.y, dim.z};
}

struct GivenRange {
  DeviceAddress begin = 0, end = 0;
};

// The memory that callers gave, in ascending order; ranges that overlap are one.
std::vector<GivenRange> join_overlapping(const BufferTable& buffers) {
  std::vector<GivenRange> given;
  for (const BoundBuffer& buffer : buffers) {
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

}  // namespace

EdgeJudge::EdgeJudge(const Plan& plan, const BufferTable& buffers, Footprints& footprints,
                     bool has_pdl)
    : buffers_(buffers),
      footprints_(footprints),
      has_pdl_(has_pdl),
      chain_([this](overlap::MemoryId id) { return memories_[id].is_constant; }),
      decisions_(plan.launches) {
  // Buffers of one variable are one memory, and so are those whose memory overlaps; all of them
  // must promise not to write it.
  const std::vector<GivenRange> ranges = join_overlapping(buffers);
  std::map<DeviceAddress, overlap::MemoryId> joined;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const ProgramBuffer& definition = *buffers[i].definition;
    const auto fresh = static_cast<overlap::MemoryId>(memories_.size());
    Place place{fresh, 0};
    if (const std::optional<ModuleVariable>& variable = definition.variable) {
      place.memory = variable_id(variable->kernel, variable->name, fresh);
    } else if (buffers[i].given && buffers[i].bytes != 0) {
      const DeviceAddress begin = range_of(ranges, *buffers[i].given).begin;
      place = {joined.try_emplace(begin, fresh).first->second, *buffers[i].given - begin};
    }
    const bool is_constant = definition.role == BufferRole::kWeight;
    places_.push_back(place);
    if (place.memory == fresh) {
      memories_.push_back({definition.name, is_constant});
    } else {
      MemoryFacts& shared = memories_[place.memory];
      shared.is_constant &= is_constant;
      if (!definition.variable) shared.name += " and " + definition.name;
    }
  }
}

overlap::MemoryId EdgeJudge::variable_id(const std::string& kernel, const std::string& name,
                                         overlap::MemoryId fresh) {
  return variables_.try_emplace({footprints_.module_number(kernel), name}, fresh).first->second;
}

overlap::MemoryId EdgeJudge::variable(const std::string& kernel, const overlap::Root& root) {
  const auto fresh = static_cast<overlap::MemoryId>(memories_.size());
  const overlap::MemoryId id = variable_id(kernel, root.variable, fresh);
  // Kernels write constant memory only by its address, which they get from a buffer.
  if (id == fresh) memories_.push_back({"the variable " + root.variable, root.constant});
  return id;
}

overlap::GivenArgument EdgeJudge::given(const PlannedArgument& argument,
                                        std::span<const std::int64_t> slots) const {
  overlap::GivenArgument out;
  if (argument.buffer()) {
    out.kind = argument.is_tensor_map() ? overlap::GivenArgument::Kind::kTensorMap
                                        : overlap::GivenArgument::Kind::kMemory;
    const Place& place = places_[*argument.buffer()];
    out.memory = place.memory;
    out.offset = place.offset + argument.offset(slots, buffers_);
    return out;
  }
  // Bytes that a program writes out hold no address: it knows none.
  out.kind = overlap::GivenArgument::Kind::kScalar;
  if (!argument.is_raw() && argument.size() <= sizeof(std::uint64_t)) {
    std::uint64_t bits = 0;
    argument.write(slots, buffers_, reinterpret_cast<std::byte*>(&bits));
    out.bits = bits;
  }
  return out;
}

Verdict EdgeJudge::judge(overlap::BoundLaunch& bound,
                         std::span<const overlap::GivenArgument> arguments,
                         const LaunchConfig& config) {
  const Verdict verdict = chain_.judge(bound);
  if (verdict.kind == Verdict::Kind::kProven || refined_ >= kMaxRefined) return verdict;
  ++refined_;
  overlap::refine(bound, arguments, extents(config.block), extents(config.grid));
  return chain_.judge(bound);
}

EdgeJudge::Edge& EdgeJudge::edge_to(std::uint32_t launch) {
  const auto [entry, is_new] = edges_.try_emplace({launch, last_});
  if (is_new) {
    entry->second.report.from = last_;
    entry->second.report.to = launch;
  }
  return entry->second;
}

void EdgeJudge::decide(const PlannedLaunch& launch, const PlannedStep& step, const Verdict& verdict,
                       const std::string& reason, bool cooperative) {
  Decision& decision = decisions_[launch.number];
  const PlannedEdge& edge = launch.edge;
  const auto full = [&](std::string why) {
    if (decision.full_because.empty()) decision.full_because = std::move(why);
  };
  if (verdict.kind == Verdict::Kind::kUnsafe && edge.mode != PdlMode::kOff && !unsafe_) {
    unsafe_ = error_at(step.source->where, ErrorCode::kFault,
                       "the edge from launch {} to launch {} is unsafe: {}; mend the kernel, or "
                       "write pdl = \"off\"",
                       last_, launch.number, reason);
  }
  switch (edge.mode) {
    case PdlMode::kOff:
      return full(edge.because);
    case PdlMode::kForce:
      decision.early_because = edge.because;
      return;
    case PdlMode::kOn:
      if (verdict.kind == Verdict::Kind::kUnsafe) {
        full("it is unsafe");
        if (edge.insisted && !refusal_) {
          refusal_ = error_at(edge.where, ErrorCode::kFault,
                              "pdl = \"on\", but {}; mend that, or write pdl = \"off\"; \"force\" "
                              "takes it as it is",
                              reason);
        }
      } else if (verdict.cause == Verdict::Cause::kNoWait) {
        full("the kernel never waits");
        if (edge.insisted && !refusal_) {
          refusal_ = error_at(edge.where, ErrorCode::kInvalidInput,
                              "pdl = \"on\", but {}; call cudaGridDependencySynchronize() in it, "
                              "or write pdl = \"off\"; \"force\" takes it as it is",
                              reason);
        }
      } else {
        decision.early_because = edge.because;
      }
      return;
    case PdlMode::kAuto:
      break;
  }
  if (!has_pdl_) return full("the device has no programmatic dependent launch");
  if (verdict.kind != Verdict::Kind::kProven) return full("it is not proven");
  if (cooperative) {
    return full("nothing shows that a cooperative grid fits beside the launch before it");
  }
  decision.early_because = "it is proven";
}

bool EdgeJudge::launch(const PlannedLaunch& launch, const PlannedStep& step,
                       const LaunchValues& values, std::span<const std::int64_t> slots,
                       Before before) {
  decisions_[launch.number].edge = &launch.edge;
  std::vector<overlap::GivenArgument> arguments;
  arguments.reserve(launch.args.size());
  for (const PlannedArgument& argument : launch.args) arguments.push_back(given(argument, slots));
  overlap::BoundLaunch bound =
      overlap::bind(footprints_.of(step.label, values.config.block), arguments,
                    extents(values.config.block), extents(values.config.grid),
                    [&](const overlap::Root& root) { return variable(step.label, root); });
  bound.number = launch.number;
  decisions_[launch.number].waits &= bound.footprint->waits >= overlap::Footprint::Waits::kOne;
  Handover& handover = decisions_[launch.number].handover;
  handover.triggers |= bound.footprint->triggers;
  handover.lets_in_early |= bound.footprint->triggers_before_wait || !bound.waits;
  if (before == Before::kSkippedLaunch) {
    Edge& edge = edge_to(launch.number);
    if (edge.report.reason.empty()) {
      edge.worst = Verdict::Kind::kUnknown;
      edge.report.reason = "the launch before it has an empty grid";
      edge.report.verdict = EdgeVerdict::kUnknown;
    }
  }
  bool early = false;
  if (before == Before::kLaunch) {
    Verdict verdict = judge(bound, arguments, values.config);
    const bool never_waits = bound.footprint->waits == overlap::Footprint::Waits::kNever;
    if (never_waits && launch.edge.mode != PdlMode::kForce) {
      // A kernel without a wait is none that was made for this, and no wrong one.
      verdict = Verdict();
      verdict.kind = Verdict::Kind::kUnknown;
      verdict.cause = Verdict::Cause::kNoWait;
    }
    Edge& edge = edge_to(launch.number);
    if (edge.report.reason.empty() || verdict.kind > edge.worst || !edge.overlaps) {
      edge.worst = verdict.kind;
      edge.report.verdict = public_verdict(verdict.kind);
      edge.report.reason = overlap::describe(
          verdict, *bound.footprint, [this](overlap::MemoryId id) { return memories_[id].name; },
          [this](const overlap::Footprint& footprint) { return footprints_.name(footprint); });
      const std::string cause = missing_wait_cause(launch.kernel.facts());
      if (never_waits && !cause.empty()) edge.report.reason += "; " + cause;
    }
    edge.overlaps = true;
    decide(launch, step, verdict, edge.report.reason, values.config.cooperative());
    early = decisions_[launch.number].full_because.empty();
  }
  chain_.follow(bound, early);
  last_ = launch.number;
  return early;
}

void EdgeJudge::skip(const PlannedLaunch& launch, Before before) {
  decisions_[launch.number].edge = &launch.edge;
  if (before == Before::kLaunch || before == Before::kSkippedLaunch) {
    Edge& edge = edge_to(launch.number);
    if (edge.report.reason.empty()) {
      edge.worst = Verdict::Kind::kUnknown;
      edge.report.reason = "its grid is empty";
    }
  }
  chain_.cut();
  last_ = launch.number;
}

std::vector<EdgeReport> EdgeJudge::reports() const {
  std::vector<EdgeReport> result;
  for (const auto& [key, edge] : edges_) {
    EdgeReport& report = result.emplace_back(edge.report);
    const Decision& decision = decisions_[report.to];
    report.programmatic = edge.overlaps && decision.full_because.empty();
    if (!edge.overlaps) {
      report.decision_reason = report.reason;
    } else {
      report.decision_reason = report.programmatic ? decision.early_because : decision.full_because;
      // Another edge of the same launch forbids it.
      if (report.verdict == EdgeVerdict::kProven && decision.full_because == "it is not proven") {
        report.decision_reason = "another edge of the launch is not proven";
      }
    }
  }
  return result;
}

std::vector<bool> EdgeJudge::early() const {
  std::vector<bool> result;
  for (const Decision& decision : decisions_) {
    result.push_back(decision.edge != nullptr && decision.full_because.empty() &&
                     !decision.early_because.empty());
  }
  return result;
}

std::vector<bool> EdgeJudge::waits() const {
  std::vector<bool> result;
  for (const Decision& decision : decisions_) result.push_back(decision.waits);
  return result;
}

std::vector<Handover> EdgeJudge::handovers() const {
  std::vector<Handover> result;
  for (const Decision& decision : decisions_) result.push_back(decision.handover);
  return result;
}

}  // namespace baton::exec
