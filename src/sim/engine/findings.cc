#include "sim/engine/findings.h"

#include <fmt/format.h>

#include <utility>

#include "sim/engine/state.h"

namespace baton::sim {

void FindingLog::add(driver::Finding finding) {
  std::lock_guard lock(mutex_);
  const auto [at, added] =
      index_.try_emplace(Key{finding.kind, finding.kernel, finding.where}, findings_.size());
  if (added) {
    findings_.push_back(std::move(finding));
  } else {
    findings_[at->second].count += finding.count;
  }
}

bool FindingLog::count_again(const std::string& kind, const std::string& kernel,
                             const std::string& where) {
  std::lock_guard lock(mutex_);
  const auto found = index_.find(Key{kind, kernel, where});
  if (found == index_.end()) return false;
  ++findings_[found->second].count;
  return true;
}

std::vector<driver::Finding> FindingLog::list() const {
  std::lock_guard lock(mutex_);
  return findings_;
}

std::vector<driver::Finding> FindingLog::take() {
  std::lock_guard lock(mutex_);
  index_.clear();
  return std::exchange(findings_, {});
}

namespace {

driver::Finding finding_at(Exec* x, const Insn* i, int lane) {
  const GridState& grid = *x->grid;
  const BlockState& block = *x->block;
  const Warp& warp = *x->warp;
  const Function& function = *warp.frames[warp.fragments[warp.current].frame].function;
  const std::uint32_t thread = warp.index * kLanes + static_cast<std::uint32_t>(lane);
  driver::Finding finding;
  finding.kernel = grid.launch.kernel->name;
  finding.block = {block.index.x, block.index.y, block.index.z};
  finding.thread = {thread % grid.launch.block.x,
                    thread / grid.launch.block.x % grid.launch.block.y,
                    thread / grid.launch.block.x / grid.launch.block.y};
  const auto number = static_cast<std::size_t>(i - function.code.data());
  if (number < function.sites.size()) {
    finding.where = place_of(*grid.kernel->ptx, function.sites[number]);
  }
  return finding;
}

}  // namespace

void report(Exec* x, const Insn* i, int lane, driver::Finding::Severity severity, const char* kind,
            const std::string& message) {
  driver::Finding finding = finding_at(x, i, lane);
  finding.severity = severity;
  finding.kind = kind;
  finding.message = message;
  x->grid->log->add(std::move(finding));
}

const Insn* fault(Exec* x, const Insn* i, int lane, CUresult code, const char* kind,
                  const std::string& message) {
  report(x, i, lane, driver::Finding::Severity::kError, kind, message);
  x->grid->set_fault(code);
  x->stop = Stop::kFault;
  return nullptr;
}

}  // namespace baton::sim
