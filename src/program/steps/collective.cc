#include <algorithm>
#include <array>
#include <tuple>

#include "program/expression/scope.h"
#include "program/names.h"
#include "program/reader/argument_reader.h"
#include "program/steps/collective_facts.h"
#include "program/steps/epilogue.h"
#include "program/steps/step_kind.h"
#include "program/writer/toml_table.h"
#include "world/reduce.h"

// all_reduce = { buffer = "y", op = "sum" }
// all_gather = { from = "part", to = "whole" }
// reduce_scatter = { from = "whole", to = "part", op = "sum" }
// broadcast = { buffer = "w", root = 0 }
// send = { buffer = "y", to = "rank + 1" }
// receive = { buffer = "x", from = "rank - 1" }
// Each may have a count, in elements, a group of ranks, and by = "nccl", "peer" or "host", which
// executes it. An all_reduce may have an epilogue
// (epilogue.h).

namespace baton {
namespace {

using enum CollectiveKind;

constexpr std::array<CollectiveFacts, 6> kCollectiveFacts = {{
    {kAllReduce,
     "all_reduce",
     {"buffer", "op", "count", "group", "by", "add", "rms_norm"},
     false,
     true,
     "",
     true,
     true},
    {kAllGather,
     "all_gather",
     {"from", "to", "count", "group", "by"},
     true,
     false,
     "",
     false,
     false},
    {kReduceScatter,
     "reduce_scatter",
     {"from", "to", "op", "count", "group", "by"},
     true,
     true,
     "",
     false,
     false},
    {kBroadcast,
     "broadcast",
     {"buffer", "root", "count", "group", "by"},
     false,
     false,
     "root",
     true,
     true},
    {kSend, "send", {"buffer", "to", "count", "group", "by"}, false, false, "to", true, false},
    {kReceive,
     "receive",
     {"buffer", "from", "count", "group", "by"},
     false,
     false,
     "from",
     false,
     true},
}};

std::span<const std::string_view> keys_of(const CollectiveFacts& facts) {
  const auto end = std::ranges::find(facts.keys, std::string_view());
  return {facts.keys.begin(), end};
}

template <CollectiveKind kKind>
StepAction read_collective(const StepSource& source) {
  const CollectiveFacts& facts = facts_of(kKind);
  const std::array<std::string_view, 1> names = {facts.name};
  const TableReader outer(source.document, source.node, source.what, names);
  const std::string what = std::string(facts.name) + " of " + source.what;
  const TableReader table(source.document, outer.require(facts.name), what, keys_of(facts));
  CollectiveStep step;
  step.kind = kKind;
  step.buffer = read_place(table, facts.moves ? "from" : "buffer");
  if (facts.moves) step.to = read_place(table, "to");
  if (facts.reduces) {
    if (const auto op = table.choice("op", kReduceNames)) step.op = static_cast<ReduceOp>(*op);
  }
  if (!facts.peer.empty()) {
    table.require(facts.peer);
    step.peer = table.expression(facts.peer);
  }
  step.count = table.expression("count");
  step.group = table.string("group").value_or("");
  if (const auto by = table.choice("by", kExecutorNames)) {
    step.by = static_cast<CollectiveExecutor>(*by + 1);
  }
  read_epilogue(table, step);
  return step;
}

auto parts(const CollectiveStep& step) {
  return std::tie(step.kind, step.buffer, step.to, step.op, step.peer, step.count, step.group,
                  step.by);
}

void check_peer(const CollectiveStep& step, const CollectiveFacts& facts, ProgramScope& scope) {
  if (facts.peer.empty() == !step.peer) {
    const bool is_message = step.kind == kSend || step.kind == kReceive;
    if (step.peer) {
      scope.check(*step.peer, fmt::format("{} of the {}", facts.peer, facts.name),
                  is_message ? -1 : 0);
    }
    return;
  }
  throw error(ErrorCode::kInvalidInput, "{} {} a rank", facts.name,
              step.peer ? "does not take" : "needs");
}

}  // namespace

const CollectiveFacts& facts_of(CollectiveKind kind) {
  return kCollectiveFacts[static_cast<std::size_t>(kind)];
}

std::span<const CollectiveFacts> all_collectives() {
  return kCollectiveFacts;
}

const std::array<StepKind, 6> kCollectiveStepKinds = {{
    {kCollectiveFacts[0].name, read_collective<kAllReduce>},
    {kCollectiveFacts[1].name, read_collective<kAllGather>},
    {kCollectiveFacts[2].name, read_collective<kReduceScatter>},
    {kCollectiveFacts[3].name, read_collective<kBroadcast>},
    {kCollectiveFacts[4].name, read_collective<kSend>},
    {kCollectiveFacts[5].name, read_collective<kReceive>},
}};

void check_step(CollectiveStep& step, ProgramScope& scope, const SourceLocation& where) {
  const CollectiveFacts& facts = facts_of(step.kind);
  scope.check_collective(facts.name, where);
  scope.check_group(step.group, where);
  const ProgramBuffer& buffer = scope.check(step.buffer);
  if (facts.moves) {
    const ProgramBuffer& to = scope.check(step.to);
    if (buffer.dtype != to.dtype) {
      throw error(ErrorCode::kInvalidInput,
                  "{} from {} to {}: the dtypes {} and {} differ, a collective does not convert",
                  facts.name, buffer.name, to.name, to_string(buffer.dtype), to_string(to.dtype));
    }
    scope.check_writable(to, facts.name);
  } else if (facts.writes) {
    scope.check_writable(buffer, facts.name);
  }
  if (facts.reduces && !world::can_reduce(step.op, buffer.dtype)) {
    throw error(ErrorCode::kInvalidInput,
                "{} of {}: bool has no {}; take max for \"any\" or min for \"all\"", facts.name,
                buffer.name, to_string(step.op));
  }
  check_peer(step, facts, scope);
  if (step.by == CollectiveExecutor::kAuto) step.by.reset();
  if (step.by == CollectiveExecutor::kPeer && step.kind != kAllReduce) {
    throw error(
        ErrorCode::kInvalidInput,
        "by is \"peer\" for the {}, and kernels between peers execute all_reduce alone; take "
        "\"nccl\" or \"host\", or leave it out",
        facts.name);
  }
  if (step.by && (step.kind == kSend || step.kind == kReceive)) {
    throw error(
        ErrorCode::kInvalidInput,
        "by is \"{}\" for the {}, and both sides of a message need the same executor; leave "
        "it out: the option collectives of a run says it for all messages",
        to_string(*step.by), facts.name);
  }
  check_epilogue(step, buffer, scope);
  if (step.count) scope.check(*step.count, fmt::format("the count of the {}", facts.name), 0);
}

bool equal_steps(const CollectiveStep& a, const CollectiveStep& b) {
  return parts(a) == parts(b) && equal_epilogues(a, b);
}

void write_step(const CollectiveStep& step, TomlTable& table) {
  const CollectiveFacts& facts = facts_of(step.kind);
  TomlTable inner;
  inner.add(facts.moves ? "from" : "buffer", toml_place(step.buffer));
  if (facts.moves) inner.add("to", toml_place(step.to));
  if (facts.reduces) inner.add("op", toml_string(to_string(step.op)));
  if (step.peer) inner.add(facts.peer, toml_expression(*step.peer));
  inner.add_if("count", step.count);
  inner.add_text("group", step.group);
  if (step.by) {
    inner.add("by", toml_string(kExecutorNames[static_cast<std::size_t>(*step.by) - 1]));
  }
  write_epilogue(step, inner);
  table.add(facts.name, inner.as_value());
}

}  // namespace baton
