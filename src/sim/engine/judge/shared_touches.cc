// What warps and copies touch of one block's shared memory: footprints and segments.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

constexpr std::size_t kMostWhole = 1024;    // accesses of a log that is whole
constexpr std::size_t kMostLogged = 8192;   // of any
constexpr std::uint32_t kWidestStore = 32;  // bytes of a lane: a vector of four doubles
constexpr std::size_t kMostClosed = 256;

using Bits = std::vector<std::uint64_t>;

void set_range(Bits& bits, std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t word = first >> 6; word <= (end - 1) >> 6; ++word) {
    const std::uint32_t from = std::max(first, word << 6) & 63;
    const std::uint32_t count = std::min(end, (word + 1) << 6) - std::max(first, word << 6);
    bits[word] |= (count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1) << from;
  }
}

// Every bit four times.
std::uint64_t spread(std::uint64_t sixteen) {
  std::uint64_t wide = 0;
  for (int k = 0; k < 16; ++k) {
    if ((sixteen >> k & 1) != 0) wide |= std::uint64_t{0xf} << (4 * k);
  }
  return wide;
}

std::array<Bits*, 4> sets_of(SharedWatch::Footprint& footprint) {
  return {&footprint.read, &footprint.write, &footprint.strong_read, &footprint.strong_write};
}

Bits& set_of(SharedWatch::Footprint& footprint, AccessKind touch) {
  switch (touch) {
    case AccessKind::kRead:
      return footprint.read;
    case AccessKind::kWrite:
      return footprint.write;
    case AccessKind::kStrongRead:
      return footprint.strong_read;
    default:
      return footprint.strong_write;
  }
}

bool is_weak(const SharedWatch::Footprint& footprint, const Bits* bits) {
  return bits == &footprint.read || bits == &footprint.write;
}

bool has_any(const Bits& bits, std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t k = first; k < end; ++k) {
    if ((bits[k >> 6] >> (k & 63) & 1) != 0) return true;
  }
  return false;
}

struct Hash {
  std::size_t operator()(const SharedWatch::Access& access) const {
    const std::uint64_t all =
        reinterpret_cast<std::uintptr_t>(access.insn) ^ std::uint64_t{access.offset} << 40 ^
        (access.value[0] ^ access.value[1]) << 8 ^ std::uint64_t{access.first_lane} << 1;
    return static_cast<std::size_t>(all * 0x9e3779b97f4a7c15u >> 16);
  }
};

// Keeps equal accesses once.
void thin_out(SharedWatch::Footprint& footprint) {
  std::unordered_set<SharedWatch::Access, Hash> seen;
  std::erase_if(footprint.log,
                [&](const SharedWatch::Access& access) { return !seen.insert(access).second; });
  footprint.is_whole = false;
  footprint.values.clear();
  footprint.idle.clear();
}

// What the lanes of an access store to each of its places in turn. False where lanes that share a
// place differ.
bool collect(const SharedWatch::Access& access, const StoredValues& values,
             std::span<std::byte> into) {
  std::array<std::byte, kWidestStore> other;
  for (std::uint32_t k = 0; k < access.places; ++k) {
    std::byte* place = into.data() + std::size_t{k} * access.bytes;
    std::uint32_t lanes = SharedWatch::lanes_of(access, k);
    SharedWatch::copy_stored(values, std::countr_zero(lanes), access.bytes, place);
    while ((lanes &= lanes - 1) != 0) {
      SharedWatch::copy_stored(values, std::countr_zero(lanes), access.bytes, other.data());
      if (std::memcmp(place, other.data(), access.bytes) != 0) return false;
    }
  }
  return true;
}

bool can_be_kept(const SharedWatch::Access& access, const StoredValues& values) {
  return values.first[0] != nullptr && access.stride >= access.bytes &&
         access.bytes <= kWidestStore;
}

// Whether the store changes nothing of what is in memory. `kept` is what it stores to several
// places.
bool is_idle(const SharedWatch::Access& access, std::span<const std::byte> kept,
             const std::byte* memory) {
  if (access.stride == 0) {
    return access.one_value && std::memcmp(memory, access.value.data(), access.bytes) == 0;
  }
  if (kept.empty()) return false;
  for (std::size_t k = 0; k < access.places; ++k) {
    const std::byte* const place = memory + k * access.stride;
    if (std::memcmp(place, kept.data() + k * access.bytes, access.bytes) != 0) return false;
  }
  return true;
}

std::uint32_t all_lanes_of(const SharedWatch::Access& access) {
  if (access.stride == 0) return access.lanes;
  if (access.shape != 0 || access.places >= kLanes) return kAllLanes;
  return ((std::uint32_t{1} << access.places) - 1) << access.first_lane;
}

bool is_fine(const SharedWatch::Access& access) {
  return ((access.offset | access.bytes | access.stride) & 3) != 0;
}

}  // namespace

void SharedWatch::copy_stored(const StoredValues& values, int lane, std::uint32_t bytes,
                              std::byte* into) {
  for (std::uint32_t done = 0; done < bytes; done += values.each) {
    const std::byte* part = values.first[done / values.each];
    std::memcpy(into + done, part + static_cast<std::size_t>(lane) * values.apart, values.each);
  }
}

std::shared_ptr<SharedWatch::Footprint> SharedWatch::Memory::take() {
  std::shared_ptr<Footprint> footprint;
  if (spare_.empty()) {
    footprint = std::make_shared<Footprint>();
  } else {
    footprint = std::move(spare_.back());
    spare_.pop_back();
  }
  // A row may begin in the last word.
  const std::size_t words = ((watch_.bytes_ >> shift_) + 63) / 64 + 2;
  for (Bits* bits : sets_of(*footprint)) {
    if (bits->size() != words) {
      bits->assign(words, 0);
    } else if (!footprint->empty() && (is_weak(*footprint, bits) || footprint->has_strong)) {
      std::fill(bits->begin() + footprint->low, bits->begin() + footprint->high, 0);
    }
  }
  footprint->low = UINT32_MAX;
  footprint->high = 0;
  footprint->shift = shift_;
  footprint->is_whole = true;
  footprint->lanes_are_compared = false;
  footprint->thin_at = kMostWhole;
  footprint->writes = footprint->has_strong = false;
  footprint->strong_sizes = footprint->lanes = 0;
  footprint->log.clear();
  footprint->values.clear();
  footprint->idle.clear();
  return footprint;
}

void SharedWatch::Memory::drop(std::shared_ptr<Footprint> footprint) {
  if (footprint.use_count() == 1) spare_.push_back(std::move(footprint));
}

// From words to bytes.
void SharedWatch::Memory::refine(Footprint& footprint) {
  if (footprint.shift == 0) return;
  footprint.shift = 0;
  const std::size_t words = (watch_.bytes_ + 63) / 64 + 2;
  for (Bits* bits : sets_of(footprint)) {
    Bits wide(words, 0);
    for (std::size_t k = 0; k < words; ++k) {
      const std::uint64_t word = k / 4 < bits->size() ? (*bits)[k / 4] : 0;
      wide[k] = spread(word >> (16 * (k % 4)) & 0xffff);
    }
    *bits = std::move(wide);
  }
  if (footprint.empty()) return;
  footprint.low *= 4;
  footprint.high = std::min(footprint.high * 4, static_cast<std::uint32_t>(words));
}

void SharedWatch::Memory::refine() {
  shift_ = 0;
  for (Open& open : open_) {
    if (open.touched_ != nullptr) refine(*open.touched_);
    for (auto& past : open.past_) {
      if (past != nullptr) refine(*past);
    }
  }
  for (AllCopies* all : {&watch_.copies_, &watch_.reads_, &watch_.products_}) {
    for (auto& [askers, copies] : *all) {
      if (askers.warp / watch_.warps_ == rank_ && copies.open != nullptr) refine(*copies.open);
    }
  }
  for (Segment& segment : closed_) refine(*segment.touched);
  refine(*all_closed_);
}

void SharedWatch::Memory::touch(Footprint& touched, const Access& access) {
  // A lane that polls.
  const bool polls = access.touch == AccessKind::kStrongRead && !touched.log.empty();
  if (polls && touched.log.back() == access) return;
  if (access.bytes != 0) mark(touched, access);
  touched.lanes |= all_lanes_of(access);
  log(touched, access);
}

// Pieces of 16 bytes, which begin at multiples of that.
void SharedWatch::Memory::touch_chunks(Footprint& touched, const Access& access,
                                       std::span<const std::uint32_t> chunks) {
  constexpr std::uint32_t kBytes = 16;
  Bits& bits = set_of(touched, access.touch);
  const std::uint64_t piece = (std::uint64_t{1} << (kBytes >> shift_)) - 1;
  for (const std::uint32_t chunk : chunks) {
    const std::uint32_t at = chunk >> shift_;
    bits[at >> 6] |= piece << (at & 63);
  }
  touched.low = std::min(touched.low, access.offset >> shift_ >> 6);
  touched.high = std::max(touched.high, ((access.offset + access.bytes - 1) >> shift_ >> 6) + 1);
  log(touched, access);
}

void SharedWatch::Memory::log(Footprint& touched, const Access& access) const {
  if (touched.log.size() >= touched.thin_at) {
    thin_out(touched);
    touched.thin_at = std::max(kMostWhole, 2 * touched.log.size());
    if (touched.log.size() >= kMostLogged) return;
  }
  // Loops come back soon.
  const std::size_t recent = touched.is_whole ? 0 : std::min<std::size_t>(touched.log.size(), 64);
  if (std::find(touched.log.end() - static_cast<std::ptrdiff_t>(recent), touched.log.end(),
                access) == touched.log.end()) {
    touched.log.push_back(access);
  }
}

// An access that is strong for its own block is weak for other blocks. It sets the bits of weak
// accesses, which can_conflict() looks at.
void SharedWatch::Memory::mark(Footprint& touched, const Access& access) const {
  const AccessKind weak = reads_only(access.touch) ? AccessKind::kRead : AccessKind::kWrite;
  Bits& bits = set_of(touched, access.is_for_block ? weak : access.touch);
  touched.writes = touched.writes || !reads_only(access.touch);
  if (is_strong(access.touch)) {
    touched.has_strong = true;
    touched.strong_sizes |= std::bit_floor(access.element_bytes());
  }
  const std::uint32_t first = access.offset >> shift_;
  const std::uint32_t end =
      ((access.offset + (access.places - 1u) * access.stride + access.bytes - 1) >> shift_) + 1;
  if ((access.shape & 1) != 0 && shift_ == 2) {
    std::uint64_t footprint = access.shape;
    for (std::uint32_t k = 4; k < access.bytes; k *= 2) footprint |= footprint << (k / 4);
    const std::uint32_t word = first >> 6;
    const std::uint32_t at = first & 63;
    bits[word] |= footprint << at;
    if (at != 0) bits[word + 1] |= footprint >> (64 - at);
  } else if (access.stride == access.bytes) {
    set_range(bits, first, end);
  } else {
    for (std::uint32_t k = 0; k < access.places; ++k) {
      const std::uint32_t at = access.offset + k * access.stride;
      set_range(bits, at >> shift_, ((at + access.bytes - 1) >> shift_) + 1);
    }
  }
  touched.low = std::min(touched.low, first >> 6);
  touched.high = std::max(touched.high, ((end - 1) >> 6) + 1);
}

bool SharedWatch::Memory::is_written(const Footprint& touched, const Access& access) const {
  for (std::uint32_t k = 0; k < access.places; ++k) {
    const std::uint32_t place = access.offset + k * access.stride;
    if (has_any(touched.write, place >> shift_, ((place + access.bytes - 1) >> shift_) + 1)) {
      return true;
    }
  }
  return false;
}

// Whether another warp ever stored to one of the places; from now on this one has, too.
bool SharedWatch::Memory::is_stored_by_others(Open& open, const Access& access) {
  constexpr std::uint32_t kWord = 2;  // log2 of the bytes of a bit
  const std::size_t words = watch_.bytes_ / 256 + 2;
  for (Bits* bits : {&open.stored_, &stored_, &stored_by_several_}) bits->resize(words);
  bool is_met = false;
  for (std::uint32_t k = 0; k < access.places; ++k) {
    const std::uint32_t place = access.offset + k * access.stride;
    for (std::uint32_t at = place >> kWord; at <= (place + access.bytes - 1) >> kWord; ++at) {
      const std::uint64_t bit = std::uint64_t{1} << (at & 63);
      std::uint64_t& mine = open.stored_[at >> 6];
      if ((mine & bit) == 0 && (stored_[at >> 6] & bit) != 0) stored_by_several_[at >> 6] |= bit;
      mine |= bit;
      stored_[at >> 6] |= bit;
      is_met = is_met || (stored_by_several_[at >> 6] & bit) != 0;
    }
  }
  return is_met;
}

void SharedWatch::Open::look_at_values() {
  if (replays()) blind_ = replayed();
  looks_at_values_ = true;
}

void SharedWatch::Open::replay(std::shared_ptr<Footprint> past) {
  next_ = past->log.data();
  end_ = next_ + past->log.size();
  touched_ = std::move(past);
  blind_ = looks_at_values_ ? 0 : touched_->log.size();
}

// What was touched, after which the next segment may begin.
std::shared_ptr<SharedWatch::Footprint> SharedWatch::Open::leave() {
  next_ = end_ = nullptr;
  return std::exchange(touched_, nullptr);
}

// The segment goes on in another way than the one before it that it was checked against.
void SharedWatch::Memory::diverge(Open& open) {
  const std::size_t replayed = open.replayed();
  const std::shared_ptr<Footprint> past = open.leave();
  open.touched_ = take();
  for (std::size_t k = 0; k < replayed; ++k) touch(*open.touched_, past->log[k]);
  open.blind_ = std::min(open.blind_, replayed);
  if (!open.touched_->is_whole) return;
  open.touched_->values.copy(past->values, open.blind_, replayed);
  for (const std::uint32_t index : past->idle) {
    if (index >= open.blind_ && index < replayed) open.touched_->idle.push_back(index);
  }
}

bool SharedWatch::Open::agrees(const Footprint& past, std::size_t k,
                               const StoredValues* values) const {
  const Access& access = past.log[k];
  if (!looks_at_values_ || values == nullptr || access.stride == 0) return true;
  const std::span<const std::byte> kept = past.values.of(k);
  std::array<std::byte, std::size_t{kLanes} * kWidestStore> now;
  const std::span<std::byte> stored{now.data(), kept.size()};
  return !kept.empty() && can_be_kept(access, *values) && collect(access, *values, stored) &&
         std::equal(kept.begin(), kept.end(), stored.begin());
}

void SharedWatch::Open::note_store(const Access& access, const StoredValues& values,
                                   const std::byte* memory) {
  if (next_ != end_ && *next_ == access && agrees(*touched_, replayed(), &values)) {
    ++next_;
  } else {
    note_new(access, &values, memory);
  }
}

void SharedWatch::Open::note_new(const Access& access, const StoredValues* values,
                                 const std::byte* before) {
  Memory& memory = *memory_;
  if (memory.shift_ != 0 && is_fine(access)) memory.refine();
  if (touched_ == nullptr) {
    for (const auto& past : past_) {
      if (past == nullptr || past->log.front() != access || !agrees(*past, 0, values)) continue;
      replay(past);
      ++next_;
      return;
    }
    touched_ = memory.take();
    blind_ = 0;
  } else if (replays()) {
    memory.diverge(*this);
  }
  Footprint& touched = *touched_;
  if (values != nullptr && !looks_at_values_ && memory.is_stored_by_others(*this, access)) {
    memory.watch_.look_at_values();
  }
  memory.touch(touched, access);
  if (values == nullptr || !touched.is_whole) return;
  const std::size_t index = touched.log.size() - 1;
  std::span<std::byte> kept;
  if (access.stride != 0 && can_be_kept(access, *values)) {
    kept = touched.values.add(index, std::size_t{access.places} * access.bytes);
    if (!kept.empty() && !collect(access, *values, kept)) {
      touched.values.take_back();
      kept = {};
    }
  }
  if (is_idle(access, kept, before)) touched.idle.push_back(static_cast<std::uint32_t>(index));
}

// The footprint of the segment that ends.
SharedWatch::Memory::Ended SharedWatch::Memory::end(Open& open) {
  if (open.touched_ == nullptr) return {};
  if (open.next_ != open.end_) diverge(open);
  const bool replayed = open.replays();
  std::shared_ptr<Footprint> touched = open.leave();
  if (!replayed && touched->is_whole) {
    std::shared_ptr<Footprint>& place = open.past_[open.oldest_++ % open.past_.size()];
    if (place != nullptr) drop(std::move(place));
    place = touched;
  }
  return {std::move(touched), open.blind_};
}

void SharedWatch::Memory::add(const Footprint& from, Footprint& to) {
  for (std::uint32_t k = from.low; k < from.high; ++k) {
    to.read[k] |= from.read[k];
    to.write[k] |= from.write[k];
  }
  for (std::uint32_t k = from.low; k < from.high && from.has_strong; ++k) {
    to.strong_read[k] |= from.strong_read[k];
    to.strong_write[k] |= from.strong_write[k];
  }
  to.has_strong = to.has_strong || from.has_strong;
  to.strong_sizes |= from.strong_sizes;
  to.low = std::min(to.low, from.low);
  to.high = std::max(to.high, from.high);
}

// Holds the segment against those that ended before it and that nothing orders, and keeps it.
void SharedWatch::Memory::close(Exec* x, Segment segment) {
  if (segment.party < watch_.all_ && !segment.touched->lanes_are_compared) {
    segment.touched->lanes_are_compared = true;
    compare_lanes(x, segment);
  }
  const Footprint& mine = *segment.touched;
  const Footprint& all = *all_closed_;
  const std::uint32_t from = std::max(mine.low, all.low);
  const std::uint32_t to = std::min(mine.high, all.high);
  // Conflicts with one segment are conflicts with all of them together: only those words are
  // looked at again.
  suspicious_.clear();
  const auto suspect = [&](std::uint32_t word, std::uint64_t conflicts) {
    if (conflicts != 0) suspicious_.push_back(word);
  };
  if (mine.has_strong || all.has_strong) {
    for (std::uint32_t k = from; k < to; ++k) suspect(k, conflicts_in(mine, all, k));
  } else {
    for (std::uint32_t k = from; k < to; ++k) suspect(k, plain_conflicts_in(mine, all, k));
  }
  for (std::size_t k = 0; k < closed_.size() && !suspicious_.empty(); ++k) {
    const Segment& other = closed_[k];
    const bool is_ordered = at(segment.start.over, other.party) > other.index;
    if ((!is_ordered && !is_ordered_by_lanes(segment, other)) || lacks_fence(segment, other)) {
      compare(x, segment, other);
    }
  }
  add(mine, *all_closed_);
  closed_.push_back(std::move(segment));
  if (closed_.size() > kMostClosed) {
    drop(std::move(closed_.front().touched));
    closed_.erase(closed_.begin());
  }
}

// Drops what is known to all: of each party the segments that are over for them. Where copies may
// read what was written, it must be visible to the async proxy, too.
void SharedWatch::Memory::forget(const Times& over, const Times* fenced) {
  const std::size_t before = closed_.size();
  std::erase_if(closed_, [&](Segment& segment) {
    if (segment.index >= at(over, segment.party)) return false;
    const bool copies_may_miss =
        fenced != nullptr && segment.party < watch_.all_ &&
        (segment.touched->writes || watch_.settings_.keeps_overwritten()) &&
        segment.index >= at(*fenced, segment.party);
    if (copies_may_miss) return false;
    drop(std::move(segment.touched));
    return true;
  });
  if (closed_.size() == before) return;
  drop(std::exchange(all_closed_, take()));
  for (const Segment& segment : closed_) add(*segment.touched, *all_closed_);
}

void SharedWatch::Memory::begin() {
  open_.resize(watch_.all_);
  for (Open& open : open_) {
    open.memory_ = this;
    open.looks_at_values_ = watch_.looks_at_values_;
    if (std::shared_ptr<Footprint> touched = open.leave()) drop(std::move(touched));
  }
  for (Segment& segment : closed_) drop(std::move(segment.touched));
  closed_.clear();
  if (all_closed_ != nullptr) drop(std::move(all_closed_));
  all_closed_ = take();
}

}  // namespace baton::sim
