#include "bind/steps/collective.h"

#include <algorithm>

#include "peer/own_launch.h"
#include "program/rank_groups.h"

namespace baton::bind {
namespace {

using enum CollectiveKind;

// How many counts of elements the step takes of one side.
std::int64_t parts_of(CollectiveKind kind, bool of_target, std::int64_t ranks) {
  if (kind == kAllGather) return of_target ? ranks : 1;
  if (kind == kReduceScatter) return of_target ? 1 : ranks;
  return 1;
}

std::int64_t offset_in(const std::optional<BoundExpression>& expression, Slots slots,
                       const BoundBuffer& buffer, std::string_view name) {
  if (!expression) return 0;
  const std::int64_t offset = expression->evaluate(slots);
  if (offset < 0 || offset > buffer.elements) {
    fail_at(*expression, slots, "the {} starts at {} + {}, outside the buffer of {} elements", name,
            buffer.definition->name, offset, buffer.elements);
  }
  return offset;
}

std::int64_t peer_of(const PlannedCollective& step, Slots slots, std::int64_t ranks) {
  if (!step.peer) return 0;
  const std::int64_t peer = step.peer->evaluate(slots);
  const std::int64_t beyond = is_message(step.kind) ? 1 : 0;
  if (peer < -beyond || peer >= ranks + beyond) {
    fail_at(*step.peer, slots, "{} of the {} is {}, and the ranks{} are 0 to {}", step.facts().peer,
            step.facts().name, peer, step.group == 0 ? "" : " of the group " + step.group_name,
            ranks - 1);
  }
  return peer;
}

// The world has checked that the numbers are small.
world::RankGroup group_of(const PlannedCollective& step, Slots slots) {
  const auto value = [&](const std::optional<BoundExpression>& expression) {
    return static_cast<std::uint32_t>(expression->evaluate(slots));
  };
  world::RankGroup group;
  group.rank = value(step.rank);
  group.ranks = value(step.ranks);
  group.stride = value(step.stride);
  group.first = value(step.world_rank) - group.rank * group.stride;
  return group;
}

// The elements of a side, from the offset on, must hold those of the step.
void check_side(const PlannedCollective& step, const BoundBuffer& buffer, std::int64_t offset,
                std::int64_t count, std::int64_t parts) {
  const std::int64_t left = buffer.elements - offset;
  const bool fits =
      step.count || step.from == step.to ? count <= left / parts : count * parts == left;
  if (count >= 0 && fits) return;
  throw error(ErrorCode::kInvalidInput,
              "the {} takes {}{} elements of {} from element {} on, and there are {}{}",
              step.facts().name, parts == 1 ? "" : std::to_string(parts) + " times ", count,
              buffer.definition->name, offset, left,
              step.count ? "" : "; sizes must fit unless count is given");
}

void check_overlap(const PlannedCollective& step, const BufferTable& buffers,
                   const PlannedCollective::Values& values) {
  const BoundBuffer& from = buffers[step.from];
  const BoundBuffer& to = buffers[step.to];
  if (!step.facts().moves || (step.from != step.to && !(from.given && to.given))) return;
  const CollectiveBytes bytes = bytes_of(step, values);
  const std::uint64_t source = from.given.value_or(0) + values.from;
  const std::uint64_t target = to.given.value_or(0) + values.to;
  if (source >= target + bytes.written || target >= source + bytes.read) return;
  throw error(ErrorCode::kInvalidInput,
              "the {} reads {} from byte {} on and writes {} from byte {} on, which overlap",
              step.facts().name, from.definition->name, values.from, to.definition->name,
              values.to);
}

// Nothing that the epilogue reads or writes may be what it writes.
void check_epilogue_overlap(const PlannedCollective& step, const BufferTable& buffers,
                            const PlannedCollective::Values& values) {
  std::vector<BufferAccess> all;
  for_each_access(step, values, [&](const BufferAccess& access) { all.push_back(access); });
  // The first one reads the reduced elements, and the second writes them.
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t k = i + 1; k < all.size(); ++k) {
      const BoundBuffer& a = buffers[all[i].buffer];
      const BoundBuffer& b = buffers[all[k].buffer];
      const bool are_one = all[i].buffer == all[k].buffer;
      if (!(all[i].writes || all[k].writes) || !(are_one || (a.given && b.given))) continue;
      const std::uint64_t first = a.given.value_or(0) + all[i].offset;
      const std::uint64_t second = b.given.value_or(0) + all[k].offset;
      if (first >= second + all[k].bytes || second >= first + all[i].bytes) continue;
      throw error(
          ErrorCode::kInvalidInput,
          "the all_reduce with an epilogue takes {} from byte {} on and {} from byte {} on, "
          "which overlap, and writes one of them",
          a.definition->name, all[i].offset, b.definition->name, all[k].offset);
    }
  }
}

}  // namespace

bool is_message(CollectiveKind kind) {
  return kind == kSend || kind == kReceive;
}

PlannedCollective plan_step(const CollectiveStep& step, const ProgramWorld& world,
                            const NameSlots& names, const BufferTable& buffers) {
  const BufferOffset& to = facts_of(step.kind).moves ? step.to : step.buffer;
  PlannedCollective planned;
  planned.kind = step.kind;
  planned.op = step.op;
  planned.from = buffer_index(buffers, step.buffer.buffer);
  planned.to = buffer_index(buffers, to.buffer);
  planned.dtype = buffers[planned.from].definition->dtype;
  planned.from_offset = bind_expression(step.buffer.offset, names);
  planned.to_offset = bind_expression(to.offset, names);
  planned.count = bind_expression(step.count, names);
  planned.peer = bind_expression(step.peer, names);
  planned.group = number_of_group(world, step.group);
  planned.group_name = step.group;
  planned.rank = bind_expression(symbol(rank_symbol(step.group)), names);
  planned.ranks = bind_expression(symbol(ranks_symbol(step.group)), names);
  planned.world_rank = bind_expression(symbol(rank_symbol({})), names);
  planned.stride = bind_expression(stride_of_group(world, step.group), names);
  planned.by = step.by;
  planned.epilogue = plan_epilogue(step, names, buffers);
  return planned;
}

std::string label_of(const CollectiveStep& step) {
  const CollectiveFacts& facts = facts_of(step.kind);
  std::string label = std::string(facts.name) + " " + place_text(step.buffer);
  if (facts.moves) label += " -> " + place_text(step.to);
  if (is_message(step.kind)) label += fmt::format(" {} {}", facts.peer, step.peer->text());
  if (!step.group.empty()) label += " in " + step.group;
  if (step.by) label += fmt::format(" by {}", to_string(*step.by));
  return label + label_of_epilogue(step);
}

bool uses_slot(const PlannedCollective& step, std::size_t slot) {
  return uses_slot(step.from_offset, slot) || uses_slot(step.to_offset, slot) ||
         uses_slot(step.count, slot) || uses_slot(step.peer, slot) || uses_slot(step.rank, slot) ||
         uses_slot(step.ranks, slot) || uses_slot(step.world_rank, slot) ||
         uses_slot(step.stride, slot) || uses_slot(step.epilogue, slot);
}

PlannedCollective::Values evaluate(const PlannedCollective& step, Slots slots,
                                   const BufferTable& buffers) {
  const std::string_view name = step.facts().name;
  const BoundBuffer& from = buffers[step.from];
  const BoundBuffer& to = buffers[step.to];
  PlannedCollective::Values values;
  // The world has checked that these are small.
  values.rank = static_cast<std::int32_t>(step.rank->evaluate(slots));
  values.ranks = static_cast<std::int32_t>(step.ranks->evaluate(slots));
  values.group = group_of(step, slots);
  values.peer = static_cast<std::int32_t>(peer_of(step, slots, values.ranks));
  const std::int64_t from_offset = offset_in(step.from_offset, slots, from, name);
  const std::int64_t to_offset = offset_in(step.to_offset, slots, to, name);
  const std::int64_t count = step.count                    ? step.count->evaluate(slots)
                             : step.kind == kReduceScatter ? to.elements - to_offset
                                                           : from.elements - from_offset;
  check_side(step, from, from_offset, count, parts_of(step.kind, false, values.ranks));
  check_side(step, to, to_offset, count, parts_of(step.kind, true, values.ranks));
  values.count = static_cast<std::uint64_t>(count);
  values.from = static_cast<std::uint64_t>(from_offset) * from.element_size();
  values.to = static_cast<std::uint64_t>(to_offset) * to.element_size();
  check_overlap(step, buffers, values);
  if (!step.epilogue.is_none()) {
    values.epilogue = evaluate(step.epilogue, slots, buffers, count);
    check_epilogue_overlap(step, buffers, values);
  }
  return values;
}

CollectiveBytes bytes_of(const PlannedCollective& step, const PlannedCollective::Values& values) {
  if (values.ranks == 1 && !step.facts().moves && !is_message(step.kind)) return {};
  if (is_message(step.kind) && (values.peer < 0 || values.peer == values.ranks)) return {};
  const std::uint64_t bytes = values.count * size_of(step.dtype);
  const auto ranks = static_cast<std::uint64_t>(values.ranks);
  switch (step.kind) {
    case kAllReduce:
      return {bytes, bytes};
    case kAllGather:
      return {bytes, bytes * ranks};
    case kReduceScatter:
      return {bytes * ranks, bytes};
    case kBroadcast:
      if (values.peer == values.rank) return {bytes, 0};
      return {0, bytes};
    case kSend:
      return {bytes, 0};
    case kReceive:
      return {0, bytes};
  }
  return {};
}

bool is_absent(const PlannedCollective& step, Slots slots) {
  return !step.facts().moves && !is_message(step.kind) && step.epilogue.is_none() &&
         step.ranks->evaluate(slots) == 1;
}

// All ranks of the world take part.
bool is_for_peers(const PlannedCollective& step, const PlannedCollective::Values& values,
                  const PeerChoice& peers) {
  const bool is_chosen = step.by ? *step.by == CollectiveExecutor::kPeer
                                 : values.count <= peers.default_bytes / size_of(step.dtype);
  return peers.ranks > 1 && is_chosen && step.kind == kAllReduce && peer::suffix_of(step.dtype) &&
         static_cast<std::uint32_t>(values.ranks) == peers.ranks && values.count != 0;
}

bool is_local(const PlannedCollective& step, const PlannedCollective::Values& values) {
  return values.ranks == 1 && step.facts().moves;
}

std::string content_text(const PlannedCollective& step, const PlannedCollective::Values& values) {
  return fmt::format(
      "{}{} {}{}", step.facts().reduces ? std::string(to_string(step.op)) + " of " : "",
      values.count, to_string(step.dtype), content_text(step.epilogue, values.epilogue));
}

}  // namespace baton::bind
