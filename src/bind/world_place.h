#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/bindings.h"
#include "baton/program.h"
#include "bind/buffers.h"
#include "world/group_link.h"

namespace baton::bind {

// The rank that a program is bound for.
struct WorldPlace {
  std::int64_t rank = 0, ranks = 1;
};
// The place in the bindings' world. Without a world: rank 0 of the number that the program
// requires.
WorldPlace place_in_world(const Program& program, const Bindings& bindings);

// The same in a group.
struct PlacedGroup {
  std::string name;
  std::int64_t rank = 0, ranks = 1;
};
// The groups of a rank, in the program's order. The ranks fill the grid of the groups, whose last
// dimension changes fastest. `value` gives the values of symbols. Throws kInvalidInput for a size
// below 1, and for sizes whose product is not the number of ranks.
std::vector<PlacedGroup> place_in_groups(
    const ProgramWorld& world, const WorldPlace& place,
    const std::function<std::int64_t(const std::string&)>& value);

// The rank's group of that name, by values of all symbols; an empty name stands for all ranks.
world::RankGroup bind_group(const Program& program, std::string_view group,
                            const std::vector<BoundSymbol>& symbols);

// The part of a sharded buffer that a rank of the world has; nothing for another buffer.
std::vector<BoundShard> bind_shards(const Program& program, const ProgramBuffer& buffer,
                                    std::uint32_t rank, const std::vector<BoundSymbol>& symbols);

}  // namespace baton::bind
