// Naming the races that shared_watch.cc suspects.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kMostReported = 8;  // of one pair of segments

// Whether an access touches one of the bytes [from, from + count).
bool is_at(const SharedWatch::Access& access, std::uint32_t from, std::uint32_t count) {
  // Most accesses of a log are elsewhere.
  const std::uint32_t end = access.offset + access.places * access.stride + access.bytes;
  if (access.offset >= from + count || end <= from) return false;
  for (std::uint32_t k = 0; k < access.places; ++k) {
    const std::uint32_t at = access.offset + k * access.stride;
    if (at < from + count && from < at + access.bytes) return true;
  }
  return false;
}

// Whether both write one value, to one place each, and agree on every byte that both write.
bool write_the_same(const SharedWatch::Access& a, const SharedWatch::Access& b) {
  if (!a.one_value || !b.one_value) return false;
  const std::uint32_t from = std::max(a.offset, b.offset);
  const std::uint32_t end = std::min(a.offset + a.bytes, b.offset + b.bytes);
  const auto bytes_of = [&](const SharedWatch::Access& access) {
    return reinterpret_cast<const std::byte*>(access.value.data()) + (from - access.offset);
  };
  return from >= end || std::memcmp(bytes_of(a), bytes_of(b), end - from) == 0;
}

// Whether the two are not of the same bytes, and so not morally strong (PTX ISA 9.0, 8.6). An
// update of a word may stand for one of a part of it.
bool are_of_other_sizes(const SharedWatch::Access& a, const SharedWatch::Access& b) {
  constexpr std::uint32_t kWord = 4;
  const bool may_stand_for_part = a.touch == AccessKind::kUpdate || b.touch == AccessKind::kUpdate;
  const std::uint32_t one = a.element_bytes();
  const std::uint32_t other = b.element_bytes();
  return one != other && (std::max(one, other) > kWord || !may_stand_for_part);
}

std::string index_text(const std::array<std::uint32_t, 3>& index) {
  return fmt::format("({}, {}, {})", index[0], index[1], index[2]);
}

const char* verb_of(AccessKind touch) {
  return reads_only(touch) ? "reads" : touch == AccessKind::kUpdate ? "updates" : "writes";
}

}  // namespace

bool SharedWatch::can_conflict(const Access& a, const Access& b, bool are_of_one_block) const {
  if (reads_only(a.touch) && reads_only(b.touch)) return false;
  const bool is_in_scope = are_of_one_block || (!a.is_for_block && !b.is_for_block);
  const bool are_strong = is_strong(a.touch) && is_strong(b.touch) && is_in_scope;
  if (are_strong && !are_of_other_sizes(a, b)) return false;
  return settings_.keeps_to_model || !write_the_same(a, b);
}

// Whether both are what threads store, so that it matters whether they store the same.
bool SharedWatch::Memory::are_stores(const Segment& one, const Access& a, const Segment& other,
                                     const Access& b) const {
  return !watch_.settings_.keeps_to_model && !reads_only(a.touch) && !reads_only(b.touch) &&
         one.party < watch_.all_ && other.party < watch_.all_;
}

// Whether the store changed nothing, as far as that was asked for.
bool SharedWatch::Memory::is_idle(const Segment& segment, std::size_t index) {
  return index >= segment.blind &&
         std::ranges::binary_search(segment.touched->idle, static_cast<std::uint32_t>(index));
}

// Whether both are known to store the same to the same places: then they agree on every bit.
bool SharedWatch::Memory::store_equal_rows(const Segment& one, std::size_t mine,
                                           const Segment& other, std::size_t theirs) const {
  const Access& a = one.touched->log[mine];
  const Access& b = other.touched->log[theirs];
  const bool is_one_place =
      a.offset == b.offset && a.stride == b.stride && a.places == b.places && a.bytes == b.bytes;
  if (!is_one_place || a.stride == 0 || !are_stores(one, a, other, b)) return false;
  watch_.look_at_values();
  if (mine < one.blind || theirs < other.blind) return false;
  const std::span<const std::byte> kept = one.touched->values.of(mine);
  return !kept.empty() && std::ranges::equal(kept, other.touched->values.of(theirs));
}

// The accesses of the segment that touch one of the bytes [from, from + count), by their numbers in
// the log. What a loop does again is left out.
std::vector<std::size_t> SharedWatch::Memory::touching(const Segment& segment, std::uint32_t from,
                                                       std::uint32_t count) {
  const Footprint& touched = *segment.touched;
  std::vector<std::size_t> found;
  for (std::size_t k = 0; k < touched.log.size(); ++k) {
    if (!is_at(touched.log[k], from, count)) continue;
    const bool is_again = std::ranges::any_of(found, [&](std::size_t earlier) {
      return touched.log[k] == touched.log[earlier] &&
             std::ranges::equal(touched.values.of(k), touched.values.of(earlier));
    });
    if (!is_again) found.push_back(k);
  }
  return found;
}

// The accesses of both that may be a race in that word of the sets. A word has many bits, and what
// is found out once about two rows holds for all of them.
std::vector<SharedWatch::Memory::Rivals> SharedWatch::Memory::rivals(const Segment& one,
                                                                     const Segment& other,
                                                                     std::uint32_t word) const {
  const std::uint32_t from = word * 64 << shift_;
  const std::uint32_t count = 64u << shift_;
  const std::vector<std::size_t> all_theirs = touching(other, from, count);
  const bool is_one_block = one.warp / watch_.warps_ == other.warp / watch_.warps_;
  std::vector<Rivals> found;
  for (const std::size_t mine : touching(one, from, count)) {
    for (const std::size_t theirs : all_theirs) {
      if (watch_.can_conflict(one.touched->log[mine], other.touched->log[theirs], is_one_block) &&
          !store_equal_rows(one, mine, other, theirs)) {
        found.push_back({mine, theirs});
      }
    }
  }
  return found;
}

// Whether both store the same to the bytes of the bit at `at`, where one of them stores to several
// places at once.
bool SharedWatch::Memory::store_the_same(const Segment& one, std::size_t mine, const Segment& other,
                                         std::size_t theirs, std::uint32_t at) const {
  const Access& a = one.touched->log[mine];
  const Access& b = other.touched->log[theirs];
  if (!are_stores(one, a, other, b) || (a.stride == 0 && b.stride == 0)) return false;
  watch_.look_at_values();
  // Whoever was not asked stored before the other one did so for the first time.
  if (mine < one.blind) return is_idle(other, theirs);
  if (theirs < other.blind) return is_idle(one, mine);
  // A byte of an access; null where it is not known what was stored.
  struct Byte {
    bool is_written = false;
    const std::byte* value = nullptr;
  };
  const auto byte_of = [](const Segment& segment, std::size_t index, std::uint32_t byte) -> Byte {
    const Access& access = segment.touched->log[index];
    for (std::uint32_t k = 0; k < access.places; ++k) {
      const std::uint32_t within = byte - (access.offset + k * access.stride);
      if (within >= access.bytes) continue;
      if (access.one_value) {
        return {true, reinterpret_cast<const std::byte*>(access.value.data()) + within};
      }
      const std::span<const std::byte> kept = segment.touched->values.of(index);
      if (kept.empty()) return {true, nullptr};
      return {true, kept.data() + k * access.bytes + within};
    }
    return {};
  };
  for (std::uint32_t byte = at; byte < at + (1u << shift_); ++byte) {
    const Byte my_byte = byte_of(one, mine, byte);
    const Byte their_byte = byte_of(other, theirs, byte);
    if (!my_byte.is_written || !their_byte.is_written) continue;
    if (my_byte.value == nullptr || their_byte.value == nullptr) return false;
    if (*my_byte.value != *their_byte.value) return false;
  }
  return true;
}

void SharedWatch::Memory::compare(Exec* x, const Segment& one, const Segment& other) const {
  const Footprint& first = *one.touched;
  const Footprint& second = *other.touched;
  // Then only what the other one wrote can race (meeting_of), or what a copy meets.
  const bool is_told = !one.needs_fence && is_told_to_all(one, other);
  std::uint32_t reported = 0;
  for (const std::uint32_t word : suspicious_) {
    if (word < second.low || word >= second.high) continue;
    std::uint64_t bits = conflicts_in(first, second, word);
    if (is_told) bits &= written_in(second, word);
    if (bits == 0) continue;
    const std::vector<Rivals> may_race = rivals(one, other, word);
    if (may_race.empty()) continue;
    for (; bits != 0 && reported < kMostReported; bits &= bits - 1) {
      const std::uint32_t at = (word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)))
                               << shift_;
      Meeting meeting;
      const auto found = std::ranges::find_if(may_race, [&](const Rivals& two) {
        if (!is_at(first.log[two.mine], at, 1u << shift_) ||
            !is_at(second.log[two.theirs], at, 1u << shift_) ||
            store_the_same(one, two.mine, other, two.theirs, at)) {
          return false;
        }
        meeting = meeting_of(one, two.mine, other, two.theirs, at);
        return meeting.lack != Lack::kNothing;
      });
      if (found == may_race.end()) continue;
      ++reported;
      const Access& mine = first.log[found->mine];
      const Access& theirs = second.log[found->theirs];
      // About the one that reads, if one does, and about a thread rather than a copy.
      const auto rank = [&](const Access& access, const Segment& segment) {
        return std::tuple(segment.party >= watch_.all_, !reads_only(access.touch), segment.warp);
      };
      const Party a{one, mine, meeting.mine};
      const Party b{other, theirs, meeting.theirs};
      const bool is_theirs = rank(theirs, other) < rank(mine, one);
      report(x, is_theirs ? b : a, is_theirs ? a : b, at, meeting.lack);
    }
    if (reported == kMostReported) return;
  }
}

void SharedWatch::Memory::report(Exec* x, const Party& mine, const Party& theirs, std::uint32_t at,
                                 Lack lack) const {
  GridState& grid = *x->grid;
  const Access& a = mine.access;
  const Access& b = theirs.access;
  const bool i_copy = mine.segment.party >= watch_.all_;
  const bool they_copy = theirs.segment.party >= watch_.all_;
  const bool is_copy = i_copy || they_copy;
  const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(a.insn),
                                   reinterpret_cast<std::uintptr_t>(b.insn),
                                   (is_copy ? 1u : 0u) | (lack == Lack::kWarpBarrier ? 2u : 0u),
                                   lack == Lack::kProxyFence ? 5u : 3u};
  const auto thread_of = [&](const Party& party) {
    return thread_index(
        grid, party.segment.warp % watch_.warps_ * kLanes + static_cast<std::uint32_t>(party.lane));
  };
  const auto block_of = [&](std::uint32_t rank) -> std::array<std::uint32_t, 3> {
    const Extent3& index = x->block->cluster->blocks[rank]->index;
    return {index.x, index.y, index.z};
  };
  grid.logged.add(*grid.log, key, 1, [&] {
    const std::uint32_t my_rank = mine.segment.warp / watch_.warps_;
    const std::uint32_t their_rank = theirs.segment.warp / watch_.warps_;
    driver::Finding finding(is_copy ? driver::FindingKind::kAsyncRace
                                    : driver::FindingKind::kSharedRace);
    finding.tag = driver::tag_of(grid.launch.note.get());
    finding.kernel = grid.launch.kernel->name;
    finding.block = block_of(my_rank);
    finding.thread = thread_of(mine);
    finding.where = where_of(grid, a.insn);
    finding.message = fmt::format(
        "{}{} {} bytes of shared memory{} at {:#x}, that {}thread {} of {} {} at {}, and {}",
        a.is_product ? "wgmma of the thread "
        : i_copy     ? "an asynchronous copy of the thread "
                     : "",
        verb_of(a.touch), a.bytes,
        rank_ == my_rank ? "" : " of block " + index_text(block_of(rank_)), at,
        b.is_product ? "wgmma of "
        : they_copy  ? "an asynchronous copy of "
                     : "",
        index_text(thread_of(theirs)),
        lack == Lack::kWarpBarrier ? "the same warp"
        : their_rank == my_rank    ? "the same block"
                                   : "block " + index_text(block_of(their_rank)),
        verb_of(b.touch), where_of(grid, b.insn),
        lack == Lack::kProxyFence      ? "no fence.proxy.async comes between the two: execute one "
                                         "after the earlier access, before the barrier"
        : lack == Lack::kWarpBarrier   ? "there is no __syncwarp() of the two lanes between them"
        : lack == Lack::kLaneOrder     ? kLaneOrderAdvice
        : a.is_product || b.is_product ? "nothing orders the two: wgmma reads until a "
                                         "wgmma.wait_group of its warpgroup is over"
        : is_copy ? "nothing between the two waits for the copy, or orders it after "
                    "the other"
        : a.is_for_block || b.is_for_block
            ? "the scope of one of them does not reach the other's block: use the scope cluster"
        : is_strong(a.touch) && is_strong(b.touch)
            ? "they differ in size: strong accesses order nothing unless they are of the same bytes"
        : my_rank == their_rank ? "there is no barrier between the two"
                                : "there is no barrier of the cluster between the two");
    return finding;
  });
}

}  // namespace baton::sim
