#include "sim/engine/shared_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "sim/engine/state.h"

namespace baton::sim {
namespace {

constexpr std::uint32_t kMostReported = 8;  // of one pair of segments

void set_range(std::vector<std::uint64_t>& bits, std::uint32_t first, std::uint32_t end) {
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

// The lane of an access that touches one of the bytes [from, from + count), or -1.
int lane_at(const SharedWatch::Access& access, std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t k = 0; k < access.places; ++k) {
    const std::uint32_t at = access.offset + k * access.stride;
    if (at < from + count && from < at + access.bytes) {
      return access.first_lane + static_cast<int>(k) * access.lanes_apart;
    }
  }
  return -1;
}

bool conflicts(const SharedWatch::Access& a, const SharedWatch::Access& b) {
  if (a.touch == Touch::kRead && b.touch == Touch::kRead) return false;
  if (a.touch == Touch::kUpdate && b.touch == Touch::kUpdate) return false;
  const bool same = a.one_value && b.one_value && a.offset == b.offset && a.bytes == b.bytes &&
                    a.value == b.value;
  return !same;
}

}  // namespace

SharedWatch::SharedWatch(std::uint32_t bytes, std::uint32_t warps) : bytes_(bytes), warps_(warps) {
  clear(all_closed_);
  for (std::uint32_t w = 0; w < warps; ++w) open_.push_back(take_footprint());
  index_.resize(warps);
  clocks_.resize(warps);
}

std::unique_ptr<SharedWatch::Footprint> SharedWatch::take_footprint() {
  std::unique_ptr<Footprint> footprint;
  if (spare_.empty()) {
    footprint = std::make_unique<Footprint>();
  } else {
    footprint = std::move(spare_.back());
    spare_.pop_back();
  }
  clear(*footprint);
  return footprint;
}

void SharedWatch::clear(Footprint& footprint) {
  const std::size_t words = ((bytes_ >> shift_) + 63) / 64 + 2;  // a row may begin in the last one
  for (Bits* bits : {&footprint.read, &footprint.write, &footprint.update}) {
    if (bits->size() != words) {
      bits->assign(words, 0);
    } else if (!footprint.empty()) {
      std::fill(bits->begin() + footprint.low, bits->begin() + footprint.high, 0);
    }
  }
  footprint.low = UINT32_MAX;
  footprint.high = 0;
  if (!footprint.log.empty()) footprint.known.fill(0);
  footprint.log.clear();
}

void SharedWatch::begin() {
  live_ = warps_ == 32 ? UINT32_MAX : (1u << warps_) - 1;
  for (auto& footprint : open_) clear(*footprint);
  std::fill(index_.begin(), index_.end(), 0);
  for (Clock& clock : clocks_) clock.assign(warps_, 0);
  for (Clock& clock : barriers_) clock.assign(warps_, 0);
  object_.assign(warps_, 0);
  cluster_.assign(warps_, 0);
  mbarriers_.clear();
  for (Segment& segment : closed_) spare_.push_back(std::move(segment.touched));
  closed_.clear();
  clear(all_closed_);
}

// From words to bytes.
void SharedWatch::refine() {
  const auto each = [&](Footprint& footprint) {
    Bits* sets[] = {&footprint.read, &footprint.write, &footprint.update};
    const std::size_t words = (bytes_ + 63) / 64 + 2;
    for (Bits* bits : sets) {
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
  };
  shift_ = 0;
  for (auto& footprint : open_) each(*footprint);
  for (Segment& segment : closed_) each(*segment.touched);
  each(all_closed_);
}

void SharedWatch::note(std::uint32_t warp, const Access& access, std::uint64_t footprint) {
  if (shift_ != 0 && ((access.offset | access.bytes | access.stride) & 3) != 0) refine();
  Footprint& touched = *open_[warp];
  Bits& bits = access.touch == Touch::kRead    ? touched.read
               : access.touch == Touch::kWrite ? touched.write
                                               : touched.update;
  const std::uint32_t first = access.offset >> shift_;
  const std::uint32_t end =
      ((access.offset + (access.places - 1u) * access.stride + access.bytes - 1) >> shift_) + 1;
  if (footprint != 0 && shift_ == 2) {
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
  const auto where = reinterpret_cast<std::uintptr_t>(access.insn) ^
                     (std::uint64_t{access.offset} << 40) ^
                     (std::uint64_t{access.first_lane} << 1) ^ (access.value << 8) ^ 1;
  std::uint64_t& known =
      touched.known[(where >> 6 ^ access.offset >> 2 ^ access.first_lane) % kKnown];
  if (known == where || touched.log.size() >= kMostLogged) return;
  known = where;
  touched.log.push_back(access);
}

void SharedWatch::add(const Footprint& from, Footprint& to) {
  for (std::uint32_t k = from.low; k < from.high; ++k) {
    to.read[k] |= from.read[k];
    to.write[k] |= from.write[k];
    to.update[k] |= from.update[k];
  }
  to.low = std::min(to.low, from.low);
  to.high = std::max(to.high, from.high);
}

bool SharedWatch::touches(const Footprint& one, const Footprint& other, std::uint32_t word,
                          std::uint64_t* bits) const {
  const std::uint64_t any = other.read[word] | other.write[word] | other.update[word];
  const std::uint64_t changed = other.write[word] | other.update[word];
  *bits = (one.write[word] & any) | (one.read[word] & changed) |
          (one.update[word] & (other.read[word] | other.write[word]));
  return *bits != 0;
}

// The segment ends; the warp's next one begins.
void SharedWatch::close(Exec* x, std::uint32_t warp) {
  Footprint& touched = *open_[warp];
  const std::uint32_t index = index_[warp]++;
  if (touched.empty()) return;
  Segment segment{warp, index, clocks_[warp], std::move(open_[warp])};
  open_[warp] = take_footprint();
  std::uint64_t bits = 0;
  const std::uint32_t from = std::max(segment.touched->low, all_closed_.low);
  const std::uint32_t to = std::min(segment.touched->high, all_closed_.high);
  bool suspicious = false;
  for (std::uint32_t word = from; word < to && !suspicious; ++word) {
    suspicious = touches(*segment.touched, all_closed_, word, &bits);
  }
  for (std::size_t k = 0; k < closed_.size() && suspicious; ++k) {
    const Segment& other = closed_[k];
    if (other.warp == warp || segment.start[other.warp] > other.index) continue;
    compare(x, segment, other);
  }
  add(*segment.touched, all_closed_);
  closed_.push_back(std::move(segment));
  if (closed_.size() > kMostClosed) {
    spare_.push_back(std::move(closed_.front().touched));
    closed_.erase(closed_.begin());
  }
}

void SharedWatch::compare(Exec* x, const Segment& one, const Segment& other) const {
  const std::uint32_t from = std::max(one.touched->low, other.touched->low);
  const std::uint32_t to = std::min(one.touched->high, other.touched->high);
  std::uint32_t reported = 0;
  for (std::uint32_t word = from; word < to; ++word) {
    std::uint64_t bits = 0;
    touches(*one.touched, *other.touched, word, &bits);
    for (; bits != 0 && reported < kMostReported; bits &= bits - 1) {
      const std::uint32_t at = (word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)))
                               << shift_;
      GridState& grid = *x->grid;
      // A pair of accesses that conflict.
      const Access* a = nullptr;
      const Access* b = nullptr;
      const auto is_here = [&](const Access& access) {
        return lane_at(access, at, 1u << shift_) >= 0;
      };
      const bool named =
          std::any_of(one.touched->log.begin(), one.touched->log.end(), [&](const Access& mine) {
            if (!is_here(mine)) return false;
            const auto rival = std::find_if(
                other.touched->log.begin(), other.touched->log.end(),
                [&](const Access& theirs) { return conflicts(mine, theirs) && is_here(theirs); });
            if (rival == other.touched->log.end()) return false;
            a = &mine;
            b = &*rival;
            return true;
          });
      if (!named) continue;
      ++reported;
      const Segment* mine = &one;
      const Segment* theirs = &other;
      const auto rank = [](const Access& access, const Segment& segment) {
        return std::pair(access.touch != Touch::kRead, segment.warp);
      };
      if (rank(*b, other) < rank(*a, one)) {
        std::swap(a, b);
        std::swap(mine, theirs);
      }
      const auto thread_of = [&](const Access& access, const Segment& segment) {
        const int lane = lane_at(access, at, 1u << shift_);
        return thread_index(grid, segment.warp * kLanes + static_cast<std::uint32_t>(lane));
      };
      const auto verb = [](Touch touch) {
        return touch == Touch::kRead ? "reads" : touch == Touch::kWrite ? "writes" : "updates";
      };
      const LoggedFindings::Key key = {reinterpret_cast<std::uintptr_t>(a->insn),
                                       reinterpret_cast<std::uintptr_t>(b->insn), 0, 3};
      grid.logged.add(*grid.log, key, 1, [&] {
        driver::Finding finding;
        finding.kind = "shared_race";
        finding.kernel = grid.launch.kernel->name;
        finding.block = {x->block->index.x, x->block->index.y, x->block->index.z};
        finding.thread = thread_of(*a, *mine);
        finding.where = where_of(grid, a->insn);
        const auto rival = thread_of(*b, *theirs);
        finding.message = fmt::format(
            "{} {} bytes of shared memory at {:#x}, that thread ({}, {}, {}) of the same block "
            "{} at {}, and no barrier lies between the two",
            verb(a->touch), a->bytes, at, rival[0], rival[1], rival[2], verb(b->touch),
            where_of(grid, b->insn));
        return finding;
      });
    }
  }
}

void SharedWatch::merge(Clock& into, const Clock& from) const {
  for (std::uint32_t w = 0; w < warps_; ++w) into[w] = std::max(into[w], from[w]);
}

// What the warp did, and knows of others, becomes known to who merges the object.
void SharedWatch::join(Clock& object, std::uint32_t warp) {
  merge(object, clocks_[warp]);
  object[warp] = std::max(object[warp], index_[warp]);
}

void SharedWatch::arrive(Exec* x, std::uint32_t warp, std::uint32_t barrier) {
  close(x, warp);
  join(barriers_[barrier], warp);
}

void SharedWatch::release(std::uint32_t barrier, std::uint32_t warps) {
  Clock& object = barriers_[barrier];
  for (std::uint32_t left = warps; left != 0; left &= left - 1) {
    merge(clocks_[static_cast<std::uint32_t>(std::countr_zero(left))], object);
  }
  std::fill(object.begin(), object.end(), 0);
  if (!closed_.empty()) forget_ordered();
}

// Drops the segments that come before whatever runs now.
void SharedWatch::forget_ordered() {
  Clock floor(warps_, UINT32_MAX);
  for (std::uint32_t left = live_; left != 0; left &= left - 1) {
    const auto w = static_cast<std::uint32_t>(std::countr_zero(left));
    for (std::uint32_t v = 0; v < warps_; ++v) {
      if (v != w) floor[v] = std::min(floor[v], clocks_[w][v]);
    }
  }
  const std::size_t before = closed_.size();
  std::erase_if(closed_, [&](Segment& segment) {
    if (segment.index >= floor[segment.warp]) return false;
    spare_.push_back(std::move(segment.touched));
    return true;
  });
  if (closed_.size() == before) return;
  clear(all_closed_);
  for (const Segment& segment : closed_) add(*segment.touched, all_closed_);
}

void SharedWatch::synchronize(Exec* x, std::uint32_t warp) {
  close(x, warp);
  merge(clocks_[warp], object_);
  join(object_, warp);
}

void SharedWatch::join_all(Exec* x, Clock& object) {
  for (std::uint32_t left = live_; left != 0; left &= left - 1) {
    const auto w = static_cast<std::uint32_t>(std::countr_zero(left));
    close(x, w);
    join(object, w);
  }
}

void SharedWatch::synchronize_outside(Exec* x) {
  join_all(x, object_);
}

SharedWatch::Clock& SharedWatch::mbarrier(std::uint32_t offset) {
  Clock& clock = mbarriers_[offset];
  if (clock.empty()) clock.assign(warps_, 0);
  return clock;
}

void SharedWatch::arrive_mbarrier(Exec* x, std::uint32_t warp, std::uint32_t offset) {
  close(x, warp);
  join(mbarrier(offset), warp);
}

void SharedWatch::arrive_mbarrier_outside(Exec* x, std::uint32_t offset) {
  join_all(x, mbarrier(offset));
}

void SharedWatch::leave_mbarrier(Exec* x, std::uint32_t warp, std::uint32_t offset) {
  close(x, warp);
  merge(clocks_[warp], mbarrier(offset));
  if (!closed_.empty()) forget_ordered();
}

void SharedWatch::arrive_cluster(Exec* x, std::uint32_t warp) {
  close(x, warp);
  join(cluster_, warp);
}

void SharedWatch::leave_cluster(Exec* x, std::uint32_t warp) {
  close(x, warp);
  merge(clocks_[warp], cluster_);
  if (!closed_.empty()) forget_ordered();
}

void SharedWatch::exit(Exec* x, std::uint32_t warp) {
  close(x, warp);
  live_ &= ~(1u << warp);
}

}  // namespace baton::sim
