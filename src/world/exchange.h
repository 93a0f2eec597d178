#pragma once

#include <cstddef>
#include <cstdint>

#include "baton/dtype.h"
#include "world/group_link.h"
#include "world/reduce.h"

namespace baton::world {

// Collectives on host memory. All ranks of the group call the same one with the same stage key,
// count and dtype. Each throws the error that ended the run of all ranks of the world. Each rank
// gets one part of the elements from all others, and reduces it in the order of the ranks. All
// ranks then have the same bits, which are those of a loop over the ranks. For an all_reduce, each
// rank sends and receives 2 (ranks - 1) / ranks of the bytes.

void all_reduce(const GroupLink& ranks, const Stage& stage, ReduceOp op, DType dtype,
                std::size_t count, char* data);
// `from`: `bytes` of this rank. `to`: those of all ranks, in their order.
void all_gather(const GroupLink& ranks, const Stage& stage, std::size_t bytes, const char* from,
                char* to);
// `from`: `count` elements for each rank. `to`: those of this rank, reduced.
void reduce_scatter(const GroupLink& ranks, const Stage& stage, ReduceOp op, DType dtype,
                    std::size_t count, const char* from, char* to);
void broadcast(const GroupLink& ranks, const Stage& stage, std::uint32_t root, std::size_t bytes,
               char* data);
void send(const GroupLink& ranks, const Stage& stage, std::uint32_t to, std::size_t bytes,
          const char* data);
void receive(const GroupLink& ranks, const Stage& stage, std::uint32_t from, std::size_t bytes,
             char* data);
// Returns when all ranks have called it.
void meet_all(const GroupLink& ranks, const Stage& stage);

}  // namespace baton::world
