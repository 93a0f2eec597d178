#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "baton/program.h"
#include "program/expression/scope.h"

namespace baton {

// The ranks of a program and their groups. An empty name stands for all ranks.

// The symbols with a rank's number and with the number of ranks: "rank" and "ranks", or those of a
// group: "tensor_rank" and "tensor_ranks".
std::string rank_symbol(std::string_view group);
std::string ranks_symbol(std::string_view group);
// The place of a known group in the world's list, from 1 on; 0 for all ranks.
std::uint32_t number_of_group(const ProgramWorld& world, std::string_view group);
// The distance of two neighbours in a known group: the product of the sizes of the groups after it.
Expression stride_of_group(const ProgramWorld& world, std::string_view group);

// Adds the symbols of the world and of its groups, and the number of ranks where the groups give
// it. Symbols of another program's world, whose parts became parts of this one, go. Throws
// kInvalidInput for a number of ranks, a group's name or a size that is wrong.
void add_world_symbols(ProgramDefinition& program);
// Throws kInvalidInput or kNotFound for names that sizes may not use.
void check_groups(const ProgramWorld& world, const ProgramScope& scope);
// Throws kInvalidInput or kNotFound for shards that do not divide the buffer.
void check_shards(const ProgramBuffer& buffer, const ProgramScope& scope);

}  // namespace baton
