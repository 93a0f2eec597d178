#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/engine/isa/insn.h"

namespace baton::sim {

// Who of one grid last touched a part of global memory, and when by the clock of its cluster
// (shared_watch.h). Zero: none.
class GridToucher {
 public:
  // How strong the access is: weak, or strong for the threads of a block, a cluster, all.
  enum class Strength : std::uint8_t { kWeak, kBlock, kCluster, kDevice };
  // All bytes are one lane's.
  static constexpr std::uint32_t kOneLane = 7;
  // So are they, but several lanes accessed them at once.
  static constexpr std::uint32_t kManyLanes = 6;

  GridToucher() = default;
  // `shift`: log2 of the bytes that each lane touches, at most 5, or one of these.
  GridToucher(std::uint32_t cluster, std::uint32_t warp, std::uint32_t segment, const Insn* insn,
              int lane, std::uint32_t shift, Strength strength, bool updates)
      : cluster_(cluster),
        segment_(segment),
        bits_((reinterpret_cast<std::uintptr_t>(insn) >> 6) << 22 | std::uint64_t{warp} << 12 |
              static_cast<std::uint64_t>(lane) << 7 | std::uint64_t{shift} << 4 |
              static_cast<std::uint64_t>(strength) << 2 | (updates ? 2 : 0) | 1) {}

  bool is_any() const { return bits_ != 0; }
  std::uint32_t cluster() const { return cluster_; }
  std::uint32_t segment() const { return segment_; }
  std::uint32_t warp() const { return static_cast<std::uint32_t>(bits_ >> 12) & 1023; }
  int lane() const { return static_cast<int>(bits_ >> 7 & 31); }
  std::uint32_t shift() const { return static_cast<std::uint32_t>(bits_ >> 4) & 7; }
  Strength strength() const { return static_cast<Strength>(bits_ >> 2 & 3); }
  bool updates() const { return (bits_ & 2) != 0; }
  const Insn* insn() const {
    return reinterpret_cast<const Insn*>(static_cast<std::uintptr_t>(bits_ >> 22 << 6));
  }
  bool is_same_warp(const GridToucher& other) const {
    return cluster_ == other.cluster_ && warp() == other.warp();
  }
  // Whether they are of two lanes of one warp, by two instructions that nothing orders. Both
  // touched the same `bytes`.
  bool is_of_other_lane(const GridToucher& other, std::uint32_t bytes) const {
    return other.is_any() && segment_ == other.segment_ && is_same_warp(other) &&
           insn() != other.insn() && shift() != kManyLanes && other.shift() != kManyLanes &&
           (lane() != other.lane() ||
            (shift() != other.shift() && !(is_one_lane(bytes) && other.is_one_lane(bytes))));
  }
  // Whether so many bytes are all this lane's.
  bool is_one_lane(std::uint32_t bytes) const { return bytes >> shift() <= 1; }
  // The lane that touched that byte.
  int lane_at(std::uint32_t byte) const {
    return lane() + static_cast<int>(shift() < kManyLanes ? byte >> shift() : 0);
  }
  // What this lane and another one of its warp access by one instruction is of many lanes.
  GridToucher beside(const GridToucher& other) const {
    GridToucher both = *this;
    if (is_same_warp(other) && segment_ == other.segment_ && insn() == other.insn() &&
        lane() != other.lane()) {
      both.bits_ = (bits_ & ~(std::uint64_t{7} << 4)) | std::uint64_t{kManyLanes} << 4;
    }
    return both;
  }
  // Whether both are of one warp's segment, and of one strength.
  bool is_repeated_by(const GridToucher& other) const {
    return segment_ == other.segment_ && cluster_ == other.cluster_ &&
           ((bits_ ^ other.bits_) & kWhoAndHow) == 0;
  }
  // The same of another party of its cluster.
  GridToucher of_warp(std::uint32_t warp) const {
    GridToucher other = *this;
    other.bits_ = (bits_ & ~(std::uint64_t{1023} << 12)) | std::uint64_t{warp} << 12;
    return other;
  }
  // Of the bytes from so many on: another lane's where each lane has its own.
  GridToucher at(std::uint32_t bytes) const {
    GridToucher part = *this;
    if (is_any() && shift() < kManyLanes) part.bits_ += std::uint64_t{bytes >> shift()} << 7;
    return part;
  }

 private:
  static constexpr std::uint64_t kWhoAndHow = std::uint64_t{1023} << 12 | 15;
  std::uint32_t cluster_ = 0;
  std::uint32_t segment_ = 0;
  std::uint64_t bits_ = 0;
};

// What one grid did to one part of global memory: 64 bytes that lanes access side by side, or a
// quarter of such a part, down to a byte, once accesses came that are smaller.
struct GridCell {
  // Strong reads of one warp since the last write: of flags, mostly.
  struct Observer {
    GridToucher latest;
    std::uint32_t first_segment = 0;
  };
  struct More {
    std::vector<GridToucher> readers;  // besides GridCell::read, in no order with it or each other
    std::unordered_map<std::uint64_t, Observer> observers;  // by cluster and warp
    // By cluster and warp, who wrote what GridCell::write did, and was not ordered after it.
    std::unordered_map<std::uint64_t, GridToucher> equal_writers;
    GridToucher weaker_write;  // before GridCell::write: stronger accesses race with this one only
  };

  GridToucher write, read;
  std::unique_ptr<More> more;
  std::unique_ptr<GridCell[]> quarters;  // where these are in use, the rest is not

  bool is_split() const { return quarters != nullptr; }
  // Forgets who read.
  void set_write(const GridToucher& writer) {
    if (more != nullptr || (write.is_any() && write.strength() < writer.strength())) keep_weaker();
    write = writer;
    read = {};
    if (more != nullptr && more->weaker_write.strength() >= writer.strength()) more.reset();
  }
  // Whether at most this warp touched it.
  bool is_all_of(const GridToucher& me) const {
    return more == nullptr && (!write.is_any() || write.is_same_warp(me)) &&
           (!read.is_any() || read.is_same_warp(me));
  }
  // Drops all of `more` but the weaker write, which may be the last write.
  void keep_weaker();
};

// The cells of the memory that a grid touched, by address. One thread at a time.
class GridCells {
 public:
  static constexpr std::uint32_t kSector = 64;  // bytes of a cell

  GridCell& sector(std::uint64_t address) {
    const std::uint64_t page = address / kPage;
    Recent& recent = recent_[page % recent_.size()];
    if (recent.page != page || recent.cells == nullptr) recent = {page, find(page)};
    return recent.cells[address % kPage / kSector];
  }
  // The quarters of a cell of so many bytes.
  static GridCell* split(GridCell& cell, std::uint32_t bytes);

 private:
  static constexpr std::uint32_t kPage = 16384;
  struct Recent {
    std::uint64_t page = 0;
    GridCell* cells = nullptr;
  };
  GridCell* find(std::uint64_t page);

  std::array<Recent, 256> recent_ = {};
  std::unordered_map<std::uint64_t, std::unique_ptr<GridCell[]>> pages_;
};

}  // namespace baton::sim
