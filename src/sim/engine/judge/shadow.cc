#include "sim/engine/judge/shadow.h"

#include <sys/mman.h>

#include "sim/engine/judge/shadow_groups.h"

namespace baton::sim {
namespace {

std::unique_ptr<Shadow::Layout> make_layout(std::uint64_t bytes, int shift) {
  // Cells in units that keep them at a page, behind a page of words for each.
  constexpr std::uint64_t kPage = 4096;
  constexpr std::uint64_t kUnit = kPage * ShadowGroups::kRatio;
  const std::uint64_t units = ((bytes >> shift) + 1) * sizeof(Shadow::Cell) / kUnit + 1;
  auto layout = std::make_unique<Shadow::Layout>();
  layout->shift = shift;
  layout->bytes = units * (kPage + kUnit);
  void* words = mmap(nullptr, layout->bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (words == MAP_FAILED) return nullptr;
  layout->cells = reinterpret_cast<Shadow::Cell*>(static_cast<std::byte*>(words) + units * kPage);
  return layout;
}

}  // namespace

Shadow::Layout::~Layout() {
  if (cells == nullptr) return;
  munmap(reinterpret_cast<std::byte*>(cells) - bytes / (ShadowGroups::kRatio + 1), bytes);
}

const Shadow::Layout* Shadow::refine(std::uint64_t low) {
  std::lock_guard lock(mutex_);
  const int shift = low == 0 ? 2 : low == 2 ? 1 : 0;
  const Layout* present = layout_.load(std::memory_order_relaxed);
  if (present != nullptr && present->shift <= shift) return present;
  std::unique_ptr<Layout> made = make_layout(bytes_, shift);
  if (made == nullptr) return nullptr;
  if (present != nullptr) {
    const int finer = present->shift - shift;
    for (std::uint64_t k = 0; k < bytes_ >> shift; ++k) {
      const Cell& old = present->cells[k >> finer];
      if ((old.write | old.read) != 0) made->cells[k] = old;
    }
    for (Kept* kept : {&readers, &writers}) {
      decltype(kept->by_cell_) by_cell;
      for (const auto& [cell, several] : kept->by_cell_) {
        const auto first = static_cast<std::uint64_t>(cell - present->cells) << finer;
        for (std::uint64_t k = 0; k < std::uint64_t{1} << finer; ++k) {
          by_cell[made->cells + first + k] = several;
        }
      }
      kept->by_cell_ = std::move(by_cell);
    }
  }
  layouts_.push_back(std::move(made));
  layout_.store(layouts_.back().get(), std::memory_order_release);
  return layouts_.back().get();
}

std::vector<std::uint64_t> Shadow::kept_of(const Kept& kept, const Cell* cell) {
  std::lock_guard lock(mutex_);
  const auto found = kept.by_cell_.find(cell);
  return found == kept.by_cell_.end() ? std::vector<std::uint64_t>{} : found->second;
}

void Shadow::clear() {
  std::lock_guard lock(mutex_);
  layout_.store(nullptr, std::memory_order_release);
  layouts_.clear();
  for (Kept* kept : {&readers, &writers}) {
    kept->by_cell_.clear();
    kept->has_any_.store(false, std::memory_order_relaxed);
  }
}

}  // namespace baton::sim
