#include "replay/replay_memory.h"

#include <cstring>
#include <utility>

namespace baton::replay {

std::size_t ReplayMemory::add(std::uint64_t recorded, ReplayedMemory memory) {
  const std::uint64_t end = recorded + memory.bytes;
  auto at = ranges_.upper_bound(recorded);
  if (at != ranges_.begin() && std::prev(at)->second.end > recorded) --at;
  while (at != ranges_.end() && at->first < end) {
    ended_.insert(at->second.memory);
    at = ranges_.erase(at);
  }
  const std::size_t number = memories_.size();
  memories_.push_back(std::move(memory));
  ranges_[recorded] = {end, number, true};
  return number;
}

std::optional<std::size_t> ReplayMemory::end(std::uint64_t recorded) {
  const auto found = ranges_.find(recorded);
  if (found == ranges_.end() || !found->second.live) return std::nullopt;
  found->second.live = false;
  ended_.insert(found->second.memory);
  return found->second.memory;
}

std::optional<ReplayMemory::Place> ReplayMemory::find(std::uint64_t recorded) const {
  auto at = ranges_.upper_bound(recorded);
  if (at == ranges_.begin()) return std::nullopt;
  const auto& [begin, range] = *--at;
  if (recorded >= range.end) return std::nullopt;
  const std::uint64_t offset = recorded - begin;
  const ReplayedMemory& memory = memories_[range.memory];
  if (memory.kind == ReplayedMemory::Kind::kReserved) return std::nullopt;
  return Place{range.memory, memory.address + offset, memory.bytes - offset};
}

void ReplayMemory::relocate(char* bytes, std::uint64_t count, Moved& moved) const {
  constexpr std::uint64_t kMapAlignment = 64;
  if (ranges_.empty()) return;
  const std::uint64_t least = ranges_.begin()->first, most = ranges_.rbegin()->second.end;
  for (std::uint64_t at = 0; at + sizeof(std::uint64_t) <= count; at += sizeof(std::uint64_t)) {
    if (maps_ != nullptr && at % kMapAlignment == 0 && count - at >= kTensorMapBytes) {
      const MapReplacer::Replaced done = maps_->replace(bytes + at, *this, moved);
      if (done != MapReplacer::Replaced::kNoMap) {
        moved.lacks_map |= done == MapReplacer::Replaced::kNotMade;
        at += kTensorMapBytes - sizeof(std::uint64_t);
        continue;
      }
    }
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    if (word < least || word > most) continue;
    std::optional<Place> place = find(word);
    // Kernels get the ends of arrays, too.
    if (!place) {
      place = find(word - 1);
      if (!place || place->left != 1) continue;
      ++place->address;
    }
    moved.memories.insert(place->memory);
    std::memcpy(bytes + at, &place->address, sizeof word);
    ++moved.words;
  }
}

std::set<std::size_t> ReplayMemory::reached(std::set<std::size_t> from) const {
  std::vector<std::size_t> pending(from.begin(), from.end());
  while (!pending.empty()) {
    const std::size_t number = pending.back();
    pending.pop_back();
    for (const std::size_t next : memories_[number].points_to) {
      if (from.insert(next).second) pending.push_back(next);
    }
  }
  return from;
}

bool ReplayMemory::is_live(std::size_t number) const {
  return ended_.count(number) == 0;
}

}  // namespace baton::replay
