#include "sim/engine/judge/shadow.h"

#include <sys/mman.h>

#include <cstdlib>

namespace baton::sim {
namespace {

constexpr int kWordShift = 2;
// Programs may have more small allocations than a process may have mappings.
constexpr std::size_t kSmallLayout = 65536;

std::unique_ptr<Shadow::Layout> make_layout(std::uint64_t bytes, int shift) {
  constexpr std::uint64_t kPage = 4096;
  // As many as those of words become.
  const std::uint64_t groups = ((bytes >> kWordShift) / ShadowGroup::kCells + 1)
                               << (kWordShift - shift);
  const std::uint64_t cells = groups * ShadowGroup::kCells * sizeof(Shadow::Cell);
  std::uint64_t before = groups * sizeof(ShadowGroup);
  auto layout = std::make_unique<Shadow::Layout>();
  layout->shift = shift;
  void* start = nullptr;
  if (before + cells <= kSmallLayout) {
    start = std::calloc(1, before + cells);
    if (start == nullptr) return nullptr;
  } else {
    before = (before + kPage - 1) / kPage * kPage;
    start = mmap(nullptr, before + cells, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    layout->mapped = before + cells;
  }
  layout->groups = static_cast<ShadowGroup*>(start);
  layout->cells = reinterpret_cast<Shadow::Cell*>(static_cast<std::byte*>(start) + before);
  return layout;
}

// The group becomes 1 << finer groups.
void refine_group(const Shadow::Layout& from, std::size_t group, const Shadow::Layout& to,
                  int finer) {
  const LockedGroup old = from.lock(group);
  if (!old.is_split() && (old.first().write | old.first().read) == 0) return;
  for (std::size_t part = 0; part < std::size_t{1} << finer; ++part) {
    LockedGroup made = to.lock((group << finer) + part);
    ShadowCell* cells = made.split();
    for (std::size_t k = 0; k < ShadowGroup::kCells; ++k) {
      cells[k] = old.at((part * ShadowGroup::kCells + k) >> finer);
    }
    made.try_join();
  }
}

void refine_groups(const Shadow::Layout& from, const Shadow::Layout& to, std::uint64_t bytes) {
  const std::size_t groups = (bytes >> from.shift) / ShadowGroup::kCells + 1;
  for (std::size_t group = 0; group < groups; ++group) {
    refine_group(from, group, to, from.shift - to.shift);
  }
}

}  // namespace

Shadow::Layout::~Layout() {
  delete awaited.load();
  if (mapped != 0) {
    munmap(groups, mapped);
  } else {
    std::free(groups);
  }
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
    refine_groups(*present, *made, bytes_);
    if (const Layout* const old = present->awaited.load(std::memory_order_acquire)) {
      std::unique_ptr<Layout> awaited = make_layout(bytes_, shift);
      if (awaited != nullptr) refine_groups(*old, *awaited, bytes_);
      made->awaited = awaited.release();
    }
    std::lock_guard kept_lock(kept_mutex_);
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

const Shadow::Layout* Shadow::make_awaited(const Layout& layout) {
  std::lock_guard lock(kept_mutex_);
  if (layout.awaited.load(std::memory_order_relaxed) == nullptr) {
    layout.awaited.store(make_layout(bytes_, layout.shift).release(), std::memory_order_release);
  }
  return layout.awaited.load(std::memory_order_relaxed);
}

std::vector<std::uint64_t> Shadow::kept_of(const Kept& kept, const Cell* cell) {
  std::lock_guard lock(kept_mutex_);
  const auto found = kept.by_cell_.find(cell);
  return found == kept.by_cell_.end() ? std::vector<std::uint64_t>{} : found->second;
}

void Shadow::clear() {
  origin.store(0, std::memory_order_relaxed);
  accesses.clear();
  std::scoped_lock lock(mutex_, kept_mutex_);
  layout_.store(nullptr, std::memory_order_release);
  layouts_.clear();
  for (Kept* kept : {&readers, &writers}) {
    kept->by_cell_.clear();
    kept->has_any_.store(false, std::memory_order_relaxed);
  }
}

void Shadow::freeze(FrozenPart part) {
  std::erase_if(frozen_, [&](const FrozenPart& old) { return old.offset == part.offset; });
  if (part.rows != 0) frozen_.push_back(std::move(part));
  has_frozen = !frozen_.empty();
}

}  // namespace baton::sim
