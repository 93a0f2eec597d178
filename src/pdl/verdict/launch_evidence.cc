#include "pdl/verdict/launch_evidence.h"

#include <algorithm>
#include <utility>

#include "pdl/footprint/bound.h"

namespace baton::overlap {

ExaminedLaunch::ExaminedLaunch(const Footprint& footprint, std::vector<GivenArgument> arguments,
                               const LaunchExtents& extents, VariableNumber variable,
                               EvidenceBudget& budget)
    : footprint_(footprint),
      arguments_(std::move(arguments)),
      extents_(extents),
      variable_(std::move(variable)),
      budget_(budget) {}

const Witnesses& ExaminedLaunch::witnesses() {
  if (!witnesses_) {
    witnesses_.emplace(footprint_, arguments_, extents_, variable_, budget_.witness_steps);
  }
  return *witnesses_;
}

std::optional<ReachedBytes> ExaminedLaunch::reached(const AccessGroup& group) {
  if (footprint_.code == nullptr) return std::nullopt;
  if (!ranges_) {
    const auto graph = budget_.graphs.try_emplace(&footprint_, *footprint_.code).first;
    ranges_.emplace(footprint_, graph->second, arguments_, extents_, variable_,
                    executed(footprint_, arguments_, extents_.block, extents_.grid));
  }
  return ranges_->of(group);
}

bool ExaminedLaunch::adds_numbers(const AccessGroup& group) const {
  const auto tells_of_none = [](const Origin& origin) {
    return !origin.is_unknown &&
           std::ranges::all_of(origin.sources, [](const AddressSource& source) {
             return source.kind == SourceKind::kLoaded;
           });
  };
  const auto is_given = [](const Origin& origin) {
    return !origin.is_unknown && origin.sources.size() == 1 &&
           origin.sources[0].kind != SourceKind::kLoaded &&
           origin.sources[0].ways == AddressSource::kWhole;
  };
  return std::ranges::all_of(footprint_.conditions, tells_of_none) &&
         std::ranges::all_of(group.origins, is_given) &&
         !AddressBinder(footprint_, arguments_, variable_).tells_addresses();
}

bool ExaminedLaunch::triggers_early() const {
  return overlap::triggers_early(footprint_, arguments_, extents_.block, extents_.grid);
}

bool LaunchEvidence::meet(const AccessGroup& own, std::uint32_t position, const AccessGroup& other,
                          bool early) {
  return own_.witnesses().meets(own, earlier_(position).witnesses(), other, early);
}

bool LaunchEvidence::never_meet(const AccessGroup& own, std::uint32_t position,
                                const AccessGroup& other, MemoryId memory) {
  const std::optional<ReachedBytes> mine = own_.reached(own);
  // The launch's numbers may decide which memory it is.
  if (!mine) return false;
  if (mine->memory != memory) return own_.adds_numbers(own);
  const std::optional<ReachedBytes> theirs = earlier_(position).reached(other);
  if (!theirs) return false;
  if (theirs->memory != memory) return earlier_(position).adds_numbers(other);
  return mine->end <= theirs->begin || theirs->end <= mine->begin;
}

bool LaunchEvidence::triggers_early(std::uint32_t position) {
  return earlier_(position).triggers_early();
}

}  // namespace baton::overlap
