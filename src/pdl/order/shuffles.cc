#include "pdl/order/shuffles.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "pdl/order/meetings.h"

namespace baton::overlap {
namespace {

constexpr std::size_t kMostCounts = 8;  // of other qualifiers and masks nothing is told
constexpr std::size_t kMaskOperand = 3;

struct Shuffle {
  std::uint32_t at = 0;
  std::vector<std::string_view> qualifiers;
  std::optional<std::uint32_t> mask;  // nothing: any

  bool may_be_with(const Shuffle& other) const {
    return qualifiers == other.qualifiers && (!mask || !other.mask || *mask == *other.mask);
  }
};

std::vector<Shuffle> shuffles_of(const Code& code) {
  std::vector<Shuffle> all;
  for (std::uint32_t at = 0; at < code.operations.size(); ++at) {
    const Operation& operation = code.operations[at];
    if (operation.exchange != Exchange::kShuffled) continue;
    Shuffle found{at, {}, std::nullopt};
    found.qualifiers.assign(operation.instruction->modifiers.begin(),
                            operation.instruction->modifiers.end());
    const bool has_mask = operation.sources.size() > kMaskOperand;
    if (has_mask && operation.sources[kMaskOperand].kind == ValueSource::Kind::kConstant) {
      found.mask = static_cast<std::uint32_t>(operation.sources[kMaskOperand].bits);
    }
    all.push_back(std::move(found));
  }
  return all;
}

class LoneShuffles {
 public:
  explicit LoneShuffles(const Code& code) : code_(code), all_(shuffles_of(code)) {}

  std::vector<bool> find() {
    std::vector<bool> lone(code_.operations.size());
    for (const Shuffle& shuffle : all_) {
      lone[shuffle.at] = std::ranges::none_of(all_, [&](const Shuffle& other) {
        return other.at != shuffle.at && may_meet(shuffle, other);
      });
    }
    return lone;
  }

 private:
  bool may_meet(const Shuffle& a, const Shuffle& b) {
    if (!a.may_be_with(b)) return false;
    if (!a.mask || !b.mask) return true;
    const std::vector<Passed>* const passed = passed_by(a);
    if (passed == nullptr) return true;
    const Passed &one = (*passed)[a.at], &other = (*passed)[b.at];
    if (!one.is_reached() || !other.is_reached()) return false;
    return one.most >= other.least && other.most >= one.least;
  }

  // How many shuffles of its kind a thread has passed; null: they are not counted.
  const std::vector<Passed>* passed_by(const Shuffle& shuffle) {
    const auto known = counts_.find({shuffle.qualifiers, *shuffle.mask});
    if (known != counts_.end()) return &known->second;
    if (counts_.size() >= kMostCounts) return nullptr;
    std::vector<Passes> passes(code_.operations.size(), Passes::kNever);
    for (const Shuffle& each : all_) {
      if (!each.may_be_with(shuffle)) continue;
      const bool always = each.mask && is_certain(code_.operations[each.at]);
      passes[each.at] = always ? Passes::kAlways : Passes::kPerhaps;
    }
    auto passed = count_meetings(code_, passes);
    return &counts_.emplace(std::pair(shuffle.qualifiers, *shuffle.mask), std::move(passed))
                .first->second;
  }

  const Code& code_;
  const std::vector<Shuffle> all_;
  std::map<std::pair<std::vector<std::string_view>, std::uint32_t>, std::vector<Passed>> counts_;
};

}  // namespace

std::vector<bool> find_lone_shuffles(const Code& code) {
  return LoneShuffles(code).find();
}

}  // namespace baton::overlap
