#include "bind/world_place.h"

#include <algorithm>

#include "base/error.h"
#include "program/expression/expression_code.h"
#include "program/rank_groups.h"

namespace baton::bind {
namespace {

std::int64_t ranks_in(const WorldGroup& group, std::int64_t ranks,
                      const std::function<std::int64_t(const std::string&)>& value) {
  const ExpressionCode& code = *group.size.code();
  std::vector<std::int64_t> values;
  for (const std::string& name : code.names) values.push_back(value(name));
  const std::int64_t size = code.evaluate(values);
  if (size >= 1 && size <= ranks) return size;
  throw error_at(
      group.size.where(), ErrorCode::kInvalidInput,
      "the group {} would have {} rank{}{}, and this run has {}; start more ranks, or give "
      "the symbols of the sizes other values",
      group.name, size, size == 1 ? "" : "s", code.values_in(code.nodes.back(), values), ranks);
}

void check_product(const ProgramWorld& world, const std::vector<PlacedGroup>& groups,
                   std::int64_t ranks) {
  std::string sizes;
  std::int64_t product = 1;
  for (const PlacedGroup& group : groups) {
    sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", group.name, group.ranks);
    // A product beyond all ranks is none of them, however large it is.
    if (product <= ranks) product *= group.ranks;
  }
  if (product == ranks) return;
  throw error_at(world.groups[0].where, ErrorCode::kInvalidInput,
                 "the groups have the sizes {}, whose product is not the {} rank{} of this run; "
                 "start as many ranks, or change the sizes",
                 sizes, ranks, ranks == 1 ? "" : "s");
}

}  // namespace

WorldPlace place_in_world(const Program& program, const Bindings& bindings) {
  if (!program.world()) return {};
  if (bindings.world) return {bindings.world->rank(), bindings.world->ranks()};
  return {0, program.world()->ranks.value_or(1)};
}

std::vector<PlacedGroup> place_in_groups(
    const ProgramWorld& world, const WorldPlace& place,
    const std::function<std::int64_t(const std::string&)>& value) {
  std::vector<PlacedGroup> groups;
  for (const WorldGroup& group : world.groups) {
    groups.push_back({group.name, 0, ranks_in(group, place.ranks, value)});
  }
  if (groups.empty()) return groups;
  check_product(world, groups, place.ranks);
  std::int64_t stride = 1;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    group->rank = place.rank / stride % group->ranks;
    stride *= group->ranks;
  }
  return groups;
}

world::RankGroup bind_group(const Program& program, std::string_view group,
                            const std::vector<BoundSymbol>& symbols) {
  const auto value = [&](const std::string& name) {
    const auto found = std::ranges::find(symbols, name, &BoundSymbol::name);
    return static_cast<std::uint32_t>(found->value);
  };
  world::RankGroup bound;
  bound.rank = value(rank_symbol(group));
  bound.ranks = value(ranks_symbol(group));
  if (group.empty()) return bound;
  const ProgramWorld& world = *program.world();
  for (std::size_t i = number_of_group(world, group); i < world.groups.size(); ++i) {
    bound.stride *= value(ranks_symbol(world.groups[i].name));
  }
  bound.first = value(rank_symbol({})) - bound.rank * bound.stride;
  return bound;
}

std::vector<BoundShard> bind_shards(const Program& program, const ProgramBuffer& buffer,
                                    std::uint32_t rank, const std::vector<BoundSymbol>& symbols) {
  std::vector<BoundShard> shards;
  for (const BufferShard& shard : buffer.shards) {
    const world::RankGroup group = bind_group(program, shard.group, symbols);
    shards.push_back({shard.axis, rank / group.stride % group.ranks, group.ranks});
  }
  std::ranges::sort(shards);
  return shards;
}

}  // namespace baton::bind
