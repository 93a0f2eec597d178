#include "sim/engine/report/findings.h"

#include <fmt/core.h>

#include <utility>

#include "image/names/readable_names.h"
#include "sim/engine/debug/debugger.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

void FirstFault::note(const driver::Finding& finding) {
  std::lock_guard lock(mutex_);
  if (!first_) first_ = finding;
}

std::optional<driver::Finding> FirstFault::get() {
  std::lock_guard lock(mutex_);
  told_ = told_ || first_;
  return first_;
}

bool FirstFault::was_told() const {
  std::lock_guard lock(mutex_);
  return told_;
}

void FirstFault::clear() {
  std::lock_guard lock(mutex_);
  first_.reset();
  told_ = false;
}

FindingLog* FindingLog::heir(std::unique_lock<std::mutex>& lock) const {
  if (heir_ != nullptr) lock.unlock();
  return heir_.get();
}

FindingLog::Place FindingLog::add(driver::Finding finding) {
  std::unique_lock lock(mutex_);
  if (FindingLog* next = heir(lock)) return next->add(std::move(finding));
  const auto [at, added] =
      index_.try_emplace(Key{finding.kind, finding.kernel, finding.where}, findings_.size());
  if (added || finding.is_fault) {
    finding.readable = image::with_readable_names(finding.kernel);
    finding.message = image::with_readable_names(finding.message);
  }
  if (finding.is_fault && fault_ != nullptr) fault_->note(finding);
  if (added) {
    if (show_ != nullptr) show_(finding);
    if (debugger_ != nullptr) debugger_->note(finding);
    findings_.push_back(std::move(finding));
  } else {
    findings_[at->second].count += finding.count;
  }
  return {this, taken_, at->second};
}

void FindingLog::tell(std::shared_ptr<Debugger> debugger) {
  std::lock_guard lock(mutex_);
  debugger_ = std::move(debugger);
}

void FindingLog::show_new(Show show) {
  std::lock_guard lock(mutex_);
  show_ = show;
}

bool FindingLog::count_again(const Place& place, std::uint64_t times) {
  std::unique_lock lock(mutex_);
  if (FindingLog* next = heir(lock)) return next->count_again(place, times);
  if (place.log != this || place.taken != taken_) return false;
  findings_[place.index].count += times;
  return true;
}

void FindingLog::pass_on_to(std::shared_ptr<FindingLog> heir) {
  std::vector<driver::Finding> left;
  {
    std::lock_guard lock(mutex_);
    heir_ = heir;
    left = std::exchange(findings_, {});
    index_.clear();
    ++taken_;
  }
  for (driver::Finding& finding : left) heir->add(std::move(finding));
}

std::vector<driver::Finding> FindingLog::list() const {
  std::lock_guard lock(mutex_);
  return findings_;
}

std::vector<driver::Finding> FindingLog::take() {
  std::lock_guard lock(mutex_);
  index_.clear();
  ++taken_;
  return std::exchange(findings_, {});
}

std::string where_of(const GridState& grid, const Insn* insn) {
  for (const auto& function : grid.kernel->functions) {
    const Insn* first = function->code.data();
    if (insn < first || insn >= first + function->code.size()) continue;
    const auto at = static_cast<std::size_t>(insn - first);
    if (at < function->sites.size()) return place_of(*grid.kernel->ptx, function->sites[at]);
  }
  return {};
}

std::array<std::uint32_t, 3> thread_index(const GridState& grid, std::uint32_t number) {
  const Extent3& block = grid.launch.block;
  return {number % block.x, number / block.x % block.y, number / block.x / block.y};
}

driver::Finding finding_at(Exec* x, const Insn* i, int lane, driver::FindingKind kind) {
  const GridState& grid = *x->grid;
  const BlockState& block = *x->block;
  const Warp& warp = *x->warp;
  const DecodedFunction& function = *warp.frames[warp.fragments[warp.current].frame].function;
  driver::Finding finding(kind);
  finding.tag = driver::tag_of(grid.launch.note.get());
  finding.kernel = grid.launch.kernel->name;
  finding.block = {block.index.x, block.index.y, block.index.z};
  finding.thread = thread_index(grid, warp.index * kLanes + static_cast<std::uint32_t>(lane));
  const auto number = static_cast<std::size_t>(i - function.code.data());
  if (number < function.sites.size()) {
    finding.where = place_of(*grid.kernel->ptx, function.sites[number]);
  }
  return finding;
}

void report(Exec* x, const Insn* i, int lane, driver::FindingKind kind,
            const std::string& message) {
  driver::Finding finding = finding_at(x, i, lane, kind);
  finding.message = message;
  x->grid->log->add(std::move(finding));
}

const Insn* fault(Exec* x, const Insn* i, int lane, CUresult code, driver::FindingKind kind,
                  const std::string& message) {
  driver::Finding finding = finding_at(x, i, lane, kind);
  finding.message = message;
  finding.is_fault = true;
  if (Debugger* debugger = x->grid->config->debugger.get()) debugger->fault(x, i, lane, finding);
  x->grid->set_fault(x->block->cluster->number, code, std::move(finding));
  x->stop = Stop::kFault;
  return nullptr;
}

}  // namespace baton::sim
