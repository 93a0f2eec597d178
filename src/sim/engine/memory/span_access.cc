#include "sim/engine/memory/span_access.h"

#include <cstring>

#include "sim/engine/judge/access_place.h"
#include "sim/engine/memory/address.h"

namespace baton::sim {

void mark_shared(Exec* x, BlockState& block, std::uint64_t offset, std::uint64_t bytes) {
  const bool own = &block == x->block;
  std::uint32_t& unwritten = own ? x->shared_unwritten : block.shared_unwritten;
  if (unwritten == 0) return;
  for (std::uint64_t word = offset / 4; word < (offset + bytes + 3) / 4; ++word) {
    if (block.shared_written[word] == 0) --unwritten;
    block.shared_written[word] = 1;
  }
  if (own && unwritten == 0) x->shared.written = nullptr;
}

bool check_span(Exec* x, const Insn* i, int lane, const MemorySpan& span, bool writes) {
  const CheckedAccess access{x, i, lane, writes ? "writes" : "reads", span.bytes, span.aligned};
  const SpaceAddress place = resolve(span.space, span.address);
  if (misaligned(access, place)) return false;
  if (place.space == Space::kLocal || place.space == Space::kParam) {
    outside(access, place);
    return false;
  }
  Region remote;
  const Region* region = region_of(access, place, &remote);
  if (region == nullptr) return false;
  const bool is_global = place.space == Space::kGlobal;
  if (is_global) (writes ? x->bytes_written : x->bytes_read) += span.bytes;
  if (writes || region->written == nullptr) return true;
  const std::uint64_t offset = place.address - region->base;
  check_written(access, place, *region, offset);
  return true;
}

void watch_copy(Exec* x, const Insn* i, int lane, const MemorySpan& span, AccessKind touch,
                const CopyParty* copy) {
  const SpaceAddress place = resolve(span.space, span.address);
  if (place.space != Space::kGlobal) return;
  Region block;
  const Region* region = x->grid->region_at(place.address, &block);
  if (region == nullptr || region->shadow == nullptr) return;
  watch_copy(x, i, lane, *region, place.address - region->base, span.bytes, touch, copy);
}

std::byte* span_place(Exec* x, const MemorySpan& span, bool writes) {
  const SpaceAddress place = resolve(span.space, span.address);
  if (place.space == Space::kShared) {
    const ClusterState& cluster = *x->block->cluster;
    const std::uint32_t rank = place.of_cluster ? rank_of(place.address) : x->block->rank;
    if (rank >= cluster.blocks.size()) return nullptr;
    BlockState& block = *cluster.blocks[rank];
    const std::uint64_t offset = place.address & ((1u << kRankShift) - 1);
    const bool gone = &block != x->block && block.live_warps == 0;
    if (gone || offset > block.shared.size() || block.shared.size() - offset < span.bytes) {
      return nullptr;
    }
    if (writes) mark_shared(x, block, offset, span.bytes);
    return block.shared.data() + offset;
  }
  Region block;
  const Region* region = x->grid->region_at(place.address, &block);
  if (region == nullptr || region->size - (place.address - region->base) < span.bytes) {
    return nullptr;
  }
  const std::uint64_t offset = place.address - region->base;
  if (writes && region->written != nullptr) std::memset(region->written + offset, 1, span.bytes);
  return region->host + offset;
}

}  // namespace baton::sim
