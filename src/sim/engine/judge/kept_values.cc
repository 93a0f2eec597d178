#include "sim/engine/judge/kept_values.h"

#include <algorithm>

namespace baton::sim {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 16;  // of one log

}  // namespace

std::span<std::byte> KeptValues::add(std::size_t index, std::size_t bytes) {
  const std::size_t start = bytes_.size();
  if (bytes > kMostBytes - start) return {};
  entries_.push_back({index, start});
  bytes_.resize(start + bytes);
  return {bytes_.data() + start, bytes};
}

void KeptValues::take_back() {
  bytes_.resize(entries_.back().start);
  entries_.pop_back();
}

std::span<const std::byte> KeptValues::of(std::size_t index) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), index,
                       [](const Entry& entry, std::size_t k) { return entry.index < k; });
  if (found == entries_.end() || found->index != index) return {};
  const auto next = found + 1;
  const std::size_t end = next == entries_.end() ? bytes_.size() : next->start;
  return {bytes_.data() + found->start, end - found->start};
}

void KeptValues::copy(const KeptValues& from, std::size_t first, std::size_t end) {
  for (const Entry& entry : from.entries_) {
    if (entry.index < first) continue;
    if (entry.index >= end) return;
    const std::span<const std::byte> values = from.of(entry.index);
    std::copy(values.begin(), values.end(), add(entry.index, values.size()).begin());
  }
}

void KeptValues::clear() {
  entries_.clear();
  bytes_.clear();
}

}  // namespace baton::sim
