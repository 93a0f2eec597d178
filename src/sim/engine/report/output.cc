#include "sim/engine/report/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace baton::sim {
namespace {

// Like the driver's buffer this one is bounded, though larger.
constexpr std::uint64_t kLimit = 16 * 1024 * 1024;

}  // namespace

void PrintedText::add(std::uint64_t block, std::uint32_t thread, std::string text) {
  std::lock_guard lock(mutex_);
  if (bytes_ + text.size() > kLimit) {
    ++lost_;
    return;
  }
  bytes_ += text.size();
  pieces_.push_back({block, thread, std::move(text)});
}

std::string PrintedText::take() {
  std::lock_guard lock(mutex_);
  std::stable_sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.block, a.thread) < std::tie(b.block, b.thread);
  });
  std::string all;
  for (const Piece& piece : pieces_) all += piece.text;
  if (lost_ != 0) all += fmt::format("[{} more messages of this kernel were lost]\n", lost_);
  pieces_.clear();
  bytes_ = lost_ = 0;
  return all;
}

}  // namespace baton::sim
