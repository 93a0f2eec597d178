#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace baton::sim {

// Runs of offsets that neither overlap nor touch.
class Runs {
 public:
  struct Run {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  void add(std::uint64_t begin, std::uint64_t end) {
    auto next = runs_.upper_bound(end);
    while (next != runs_.begin() && std::prev(next)->second >= begin) {
      next = std::prev(next);
      begin = begin < next->first ? begin : next->first;
      end = end > next->second ? end : next->second;
      next = runs_.erase(next);
    }
    runs_[begin] = end;
  }
  void remove(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    auto next = runs_.lower_bound(begin);
    if (next != runs_.begin() && std::prev(next)->second > begin) next = std::prev(next);
    while (next != runs_.end() && next->first < end) {
      const Run cut{next->first, next->second};
      next = runs_.erase(next);
      if (cut.begin < begin) runs_[cut.begin] = begin;
      if (cut.end > end) runs_[end] = cut.end;
    }
  }
  std::optional<Run> at(std::uint64_t offset) const {
    const std::optional<Run> run = before(offset);
    return run && offset < run->end ? run : std::nullopt;
  }
  // The last one that begins at or before the offset.
  std::optional<Run> before(std::uint64_t offset) const {
    const auto after = runs_.upper_bound(offset);
    if (after == runs_.begin()) return std::nullopt;
    return Run{std::prev(after)->first, std::prev(after)->second};
  }
  bool holds(std::uint64_t offset, std::uint64_t bytes) const {
    const std::optional<Run> run = at(offset);
    return run && bytes <= run->end - offset;
  }
  bool empty() const { return runs_.empty(); }
  template <typename Use>
  void each(Use use) const {
    for (const auto& [begin, end] : runs_) use(Run{begin, end});
  }

 private:
  std::map<std::uint64_t, std::uint64_t> runs_;  // begin to end
};

}  // namespace baton::sim
