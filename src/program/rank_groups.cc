#include "program/rank_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/text/text.h"
#include "program/expression/expression_code.h"
#include "world/launcher.h"

namespace baton {
namespace {

constexpr std::string_view kAllRanks;

void add_symbols(ProgramDefinition& program, std::string_view group, std::int64_t ranks,
                 const SourceLocation& where) {
  program.symbols.push_back({rank_symbol(group), 0, where, true});
  program.symbols.push_back({ranks_symbol(group), ranks, where, true});
}

void check_name(const WorldGroup& group) {
  if (is_identifier(group.name)) return;
  throw error_at(group.where, ErrorCode::kInvalidInput,
                 "the group \"{}\" is not a name: letters, digits and _, not starting with a digit",
                 printable(group.name));
}

void check_size(const WorldGroup& group) {
  const auto size = group.size.literal();
  if (!size || (*size >= 1 && *size <= world::kMostRanks)) return;
  throw error_at(group.size.where(), ErrorCode::kInvalidInput,
                 "the group {} has {} ranks; write a number from 1 to {}", group.name, *size,
                 world::kMostRanks);
}

// The product of the sizes, where all of them are numbers.
std::optional<std::int64_t> product_of(const std::vector<WorldGroup>& groups) {
  std::int64_t product = 1;
  for (const WorldGroup& group : groups) {
    if (!group.size.literal()) return std::nullopt;
    product = std::min<std::int64_t>(product * *group.size.literal(), world::kMostRanks + 1);
  }
  return groups.empty() ? std::nullopt : std::optional(product);
}

void check_ranks(ProgramWorld& world) {
  if (world.ranks && (*world.ranks < 1 || *world.ranks > world::kMostRanks)) {
    throw error_at(world.where, ErrorCode::kInvalidInput,
                   "the world has {} ranks; write a number from 1 to {}", *world.ranks,
                   world::kMostRanks);
  }
  const auto product = product_of(world.groups);
  if (!product) return;
  if (*product > world::kMostRanks) {
    throw error_at(world.groups[0].where, ErrorCode::kInvalidInput,
                   "the product of the sizes of the groups is more than {} ranks",
                   world::kMostRanks);
  }
  if (world.ranks && *world.ranks != *product) {
    throw error_at(world.where, ErrorCode::kInvalidInput,
                   "the world has {} ranks, and the product of the sizes of its groups is {}; make "
                   "them equal, or leave ranks out",
                   *world.ranks, *product);
  }
  world.ranks = product;
}

}  // namespace

std::string rank_symbol(std::string_view group) {
  return group.empty() ? "rank" : fmt::format("{}_rank", group);
}

std::string ranks_symbol(std::string_view group) {
  return group.empty() ? "ranks" : fmt::format("{}_ranks", group);
}

std::uint32_t number_of_group(const ProgramWorld& world, std::string_view group) {
  if (group.empty()) return 0;
  const auto found = std::ranges::find(world.groups, group, &WorldGroup::name);
  return static_cast<std::uint32_t>(found - world.groups.begin()) + 1;
}

Expression stride_of_group(const ProgramWorld& world, std::string_view group) {
  if (group.empty()) return 1;
  Expression stride = 1;
  for (std::size_t i = number_of_group(world, group); i < world.groups.size(); ++i) {
    stride = stride * symbol(ranks_symbol(world.groups[i].name));
  }
  return stride;
}

void add_world_symbols(ProgramDefinition& program) {
  std::erase_if(program.symbols, [](const ProgramSymbol& symbol) { return symbol.of_world; });
  if (!program.world) return;
  ProgramWorld& world = *program.world;
  for (const WorldGroup& group : world.groups) {
    check_name(group);
    check_size(group);
  }
  check_ranks(world);
  add_symbols(program, {}, world.ranks.value_or(1), world.where);
  for (const WorldGroup& group : world.groups) {
    add_symbols(program, group.name, group.size.literal().value_or(1), group.where);
  }
}

void check_groups(const ProgramWorld& world, const ProgramScope& scope) {
  for (const WorldGroup& group : world.groups) {
    located(group, [&] {
      scope.check_names(*group.size.code());
      for (const std::string& name : group.size.names()) {
        if (name == "ranks" || !scope.is_of_world(name)) continue;
        throw error(
            ErrorCode::kInvalidInput,
            "the size of the group {} depends on {}, which the groups decide; write it with "
            "ranks and symbols of the program",
            group.name, name);
      }
    });
  }
}

void check_shards(const ProgramBuffer& buffer, const ProgramScope& scope) {
  std::set<std::size_t> axes;
  std::set<std::string_view> groups;
  for (const BufferShard& shard : buffer.shards) {
    const auto refuse = [&](std::string_view why) {
      throw error_at(shard.where, ErrorCode::kInvalidInput, "buffer {} has a shard, {}",
                     buffer.name, why);
    };
    if (!scope.has_world()) refuse("and the program has no world; add [world] to it");
    scope.check_group(shard.group, shard.where);
    if (shard.axis >= buffer.shape.size()) {
      refuse(fmt::format("by axis {} of {} dimensions; the first one is axis 0", shard.axis,
                         buffer.shape.size()));
    }
    if (buffer.variable) refuse("and is a variable of a kernel, which each device has whole");
    if (!axes.insert(shard.axis).second) {
      refuse(fmt::format("and another one by the same axis {}", shard.axis));
    }
    if (!groups.insert(shard.group).second || (groups.contains(kAllRanks) && groups.size() > 1)) {
      refuse(
          fmt::format("and another one by {}; give each a group of its own, so that the parts "
                      "together are the whole array",
                      groups.contains(kAllRanks) ? "all ranks" : "the group " + shard.group));
    }
  }
}

}  // namespace baton
