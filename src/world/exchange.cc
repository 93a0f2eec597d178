#include "world/exchange.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"

namespace baton::world {
namespace {

// Elements from `first` on that a rank reduces for all.
struct ReducedPart {
  std::size_t first = 0, count = 0;
};

ReducedPart part_of(std::size_t count, std::uint32_t rank, std::uint32_t ranks) {
  const std::size_t each = (count + ranks - 1) / ranks;
  const std::size_t first = std::min(count, each * rank);
  return {first, std::min(each, count - first)};
}

void take(const GroupLink& ranks, std::uint32_t from, const Stage& stage, std::size_t bytes,
          char* data) {
  const std::string content = ranks.receive(from, stage);
  if (content.size() != bytes) {
    throw error(ErrorCode::kInternal, "rank {} sent {} bytes for {} of {}", ranks.in_world(from),
                content.size(), bytes, stage.text);
  }
  std::memcpy(data, content.data(), bytes);
}

// Sends each other rank its part of `from`, and reduces the parts for this one into `to`.
void scatter(const GroupLink& ranks, const Stage& stage, ReduceOp op, DType dtype,
             const std::vector<ReducedPart>& shares, const char* from, char* to) {
  const std::size_t size = size_of(dtype);
  const auto at = [&](std::uint32_t rank) { return from + shares[rank].first * size; };
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank == ranks.rank()) continue;
    ranks.send(rank, stage, {at(rank), shares[rank].count * size});
  }
  const std::size_t count = shares[ranks.rank()].count;
  std::vector<std::string> contents(ranks.ranks());
  std::vector<const char*> parts(ranks.ranks());
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    contents[rank].resize(count * size);
    if (rank == ranks.rank()) {
      std::memcpy(contents[rank].data(), at(rank), count * size);
    } else {
      take(ranks, rank, stage, count * size, contents[rank].data());
    }
    parts[rank] = contents[rank].data();
  }
  reduce(op, dtype, count, parts, to);
}

}  // namespace

void all_reduce(const GroupLink& ranks, const Stage& stage, ReduceOp op, DType dtype,
                std::size_t count, char* data) {
  const std::size_t size = size_of(dtype);
  std::vector<ReducedPart> shares;
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    shares.push_back(part_of(count, rank, ranks.ranks()));
  }
  const ReducedPart own = shares[ranks.rank()];
  char* const reduced = data + own.first * size;
  scatter(ranks, stage, op, dtype, shares, data, reduced);
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank != ranks.rank()) ranks.send(rank, stage, {reduced, own.count * size});
  }
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank == ranks.rank()) continue;
    take(ranks, rank, stage, shares[rank].count * size, data + shares[rank].first * size);
  }
}

void all_gather(const GroupLink& ranks, const Stage& stage, std::size_t bytes, const char* from,
                char* to) {
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank != ranks.rank()) ranks.send(rank, stage, {from, bytes});
  }
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank == ranks.rank()) {
      std::memmove(to + rank * bytes, from, bytes);
    } else {
      take(ranks, rank, stage, bytes, to + rank * bytes);
    }
  }
}

void reduce_scatter(const GroupLink& ranks, const Stage& stage, ReduceOp op, DType dtype,
                    std::size_t count, const char* from, char* to) {
  std::vector<ReducedPart> shares;
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    shares.push_back({rank * count, count});
  }
  scatter(ranks, stage, op, dtype, shares, from, to);
}

void broadcast(const GroupLink& ranks, const Stage& stage, std::uint32_t root, std::size_t bytes,
               char* data) {
  if (ranks.rank() != root) return receive(ranks, stage, root, bytes, data);
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank != root) ranks.send(rank, stage, {data, bytes});
  }
}

void send(const GroupLink& ranks, const Stage& stage, std::uint32_t to, std::size_t bytes,
          const char* data) {
  ranks.send(to, stage, {data, bytes});
}

void receive(const GroupLink& ranks, const Stage& stage, std::uint32_t from, std::size_t bytes,
             char* data) {
  take(ranks, from, stage, bytes, data);
}

void meet_all(const GroupLink& ranks, const Stage& stage) {
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank != ranks.rank()) ranks.send(rank, stage, {});
  }
  for (std::uint32_t rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank != ranks.rank()) ranks.receive(rank, stage);
  }
}

}  // namespace baton::world
