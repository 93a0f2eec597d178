#include "sim/engine/judge/grid_cells.h"

#include <mutex>
#include <utility>

namespace baton::sim {
namespace {

// Pages of grids that have ended. Most of their cells hold no memory, so that none of them has to
// be destroyed.
class SparePages {
 public:
  static SparePages& instance() {
    static auto& instance = *new SparePages;
    return instance;
  }

  std::unique_ptr<GridCells::Page> take() {
    {
      std::lock_guard lock(mutex_);
      if (!pages_.empty()) {
        auto page = std::move(pages_.back());
        pages_.pop_back();
        page->forget();
        return page;
      }
    }
    return std::make_unique<GridCells::Page>();
  }
  void give(std::unique_ptr<GridCells::Page> page) {
    page->free_cells();
    std::lock_guard lock(mutex_);
    if (pages_.size() < kMost) pages_.push_back(std::move(page));
  }

 private:
  static constexpr std::size_t kMost = 2048;  // 25 MB

  std::mutex mutex_;
  std::vector<std::unique_ptr<GridCells::Page>> pages_;
};

}  // namespace

void GridCell::keep_weaker() {
  const bool has_weaker = more != nullptr && more->weaker_write.is_any();
  const GridToucher weaker = has_weaker ? more->weaker_write : write;
  more.reset();
  if (!weaker.is_any()) return;
  more = std::make_unique<More>();
  more->weaker_write = weaker;
}

void GridCells::Page::free_cells() {
  if (!std::exchange(holds_memory_, false)) return;
  for (GridCell& cell : cells_) {
    cell.more.reset();
    cell.quarters.reset();
  }
}

void GridCells::Page::forget() {
  for (GridCell& cell : cells_) cell.write = cell.read = {};
}

GridCells::~GridCells() {
  for (auto& [number, page] : pages_) SparePages::instance().give(std::move(page));
}

GridCells::Page* GridCells::find(std::uint64_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (page == nullptr) page = SparePages::instance().take();
  return page.get();
}

GridCell* GridCells::split(GridCell& cell, std::uint32_t bytes) {
  if (cell.is_split()) return cell.quarters.get();
  auto quarters = std::make_unique<GridCell[]>(4);
  for (std::uint32_t k = 0; k < 4; ++k) {
    const std::uint32_t at = k * (bytes / 4);
    GridCell& part = quarters[k];
    part.write = cell.write.at(at);
    part.read = cell.read.at(at);
    if (cell.more == nullptr) continue;
    part.more = std::make_unique<GridCell::More>();
    for (const GridToucher& reader : cell.more->readers) {
      part.more->readers.push_back(reader.at(at));
    }
    part.more->observers = cell.more->observers;
    for (const auto& [who, writer] : cell.more->equal_writers) {
      part.more->equal_writers.emplace(who, writer.at(at));
    }
    part.more->weaker_write = cell.more->weaker_write.at(at);
  }
  cell.quarters = std::move(quarters);
  return cell.quarters.get();
}

}  // namespace baton::sim
