#include "sim/engine/judge/grid_cells.h"

namespace baton::sim {

void GridCell::keep_weaker() {
  const bool has_weaker = more != nullptr && more->weaker_write.is_any();
  const GridToucher weaker = has_weaker ? more->weaker_write : write;
  more.reset();
  if (!weaker.is_any()) return;
  more = std::make_unique<More>();
  more->weaker_write = weaker;
}

GridCell* GridCells::find(std::uint64_t page) {
  std::unique_ptr<GridCell[]>& cells = pages_[page];
  if (cells == nullptr) cells = std::make_unique<GridCell[]>(kPage / kSector);
  return cells.get();
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
