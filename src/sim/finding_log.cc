#include "sim/finding_log.h"

#include <utility>

namespace baton::sim {
namespace {

// A program that goes wrong in ever new ways must not take memory without bound.
constexpr std::size_t kMaxFindings = 1000;

}  // namespace

void FindingLog::add(driver::Finding finding) {
  std::lock_guard lock(mutex_);
  for (driver::Finding& known : findings_) {
    if (known.kind == finding.kind && known.kernel == finding.kernel &&
        known.where == finding.where && known.message == finding.message) {
      known.count += finding.count;
      return;
    }
  }
  if (findings_.size() >= kMaxFindings) {
    ++findings_.back().count;
    return;
  }
  findings_.push_back(std::move(finding));
}

std::vector<driver::Finding> FindingLog::all() const {
  std::lock_guard lock(mutex_);
  return findings_;
}

std::vector<driver::Finding> FindingLog::take() {
  std::lock_guard lock(mutex_);
  return std::exchange(findings_, {});
}

}  // namespace baton::sim
