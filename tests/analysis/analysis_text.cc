#include "analysis/analysis_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <deque>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "analysis/kernel_text.h"
#include "pdl/code/definition_graph.h"
#include "pdl/footprint/access_ranges.h"
#include "pdl/footprint/bound.h"
#include "pdl/footprint/unseen.h"
#include "pdl/verdict/certain_walk.h"
#include "pdl/verdict/chain.h"
#include "pdl/verdict/launch_evidence.h"
#include "pdl/verdict/witnesses.h"

namespace baton::record {
namespace {

using overlap::AccessGroup;
using overlap::BoundAccess;
using overlap::BoundLaunch;
using overlap::Footprint;
using overlap::LaunchExtents;

constexpr std::uint64_t kWalkSteps = 2048, kWitnessSteps = 1 << 13;
constexpr std::size_t kShownAccesses = 64;

std::string text_of_memory(std::optional<overlap::MemoryId> memory) {
  return memory ? fmt::format("m{}", *memory) : "any";
}

std::string text_of_wide(overlap::WideInteger value) {
  if (value < 0) return fmt::format("-{}", text_of_wide(-value));
  return fmt::format("{:x}:{:x}", static_cast<std::uint64_t>(value >> 64),
                     static_cast<std::uint64_t>(value));
}

std::string bound_text(const BoundLaunch& launch) {
  std::string out = fmt::format("waits {} by value {}\n", launch.waits, launch.by_value);
  auto to = std::back_inserter(out);
  for (const BoundAccess& access : launch.accesses) {
    fmt::format_to(to, " {} {} {} +{:x} {:x} arg {} {} one of {}\n",
                   access.group - launch.footprint->accesses.data(), letter_of(access.order),
                   text_of_memory(access.memory), access.offset, access.bytes, access.argument,
                   static_cast<int>(access.why), access.is_one_of);
  }
  return out;
}

std::string verdict_text(const overlap::Verdict& verdict) {
  const auto group = [](const AccessGroup* access) {
    return access == nullptr ? std::string("-")
                             : fmt::format("{}{}{}", access->where, access->reads ? "r" : "",
                                           access->writes ? "w" : "");
  };
  const auto kernel = [](const Footprint* footprint) {
    return footprint == nullptr ? std::string("-") : footprint->kernel;
  };
  return fmt::format("{} {} {} {} | {} {} {} between {} {} frozen {} why {}",
                     to_string(verdict.kind), to_string(verdict.cause), kernel(verdict.own_kernel),
                     group(verdict.own), group(verdict.other), verdict.other_number,
                     kernel(verdict.other_kernel), kernel(verdict.between),
                     text_of_memory(verdict.memory), text_of_memory(verdict.frozen),
                     static_cast<int>(verdict.why));
}

// The launches of a program with all that they refer to.
class Analysis {
 public:
  explicit Analysis(const RecordedProgram& program) : program_(program) {
    for (const RecordedLaunch& launch : program.launches) add(launch);
  }

  std::string bound() const {
    std::string out;
    for (std::size_t k = 0; k < launches_.size(); ++k) {
      const RecordedLaunch& launch = program_.launches[k];
      out += bound_text(launches_[k]) + "refined " + bound_text(refined_[k]);
      out += fmt::format("triggers early {}\n", triggers_early(footprints_[k], launch.arguments,
                                                               launch.block, launch.grid));
    }
    return out;
  }

  std::string ranges() const {
    std::string out;
    auto to = std::back_inserter(out);
    for (std::size_t k = 0; k < launches_.size(); ++k) {
      if (footprints_[k].code == nullptr) continue;
      const overlap::DefinitionGraph graph(*footprints_[k].code);
      overlap::AccessRanges ranges(footprints_[k], graph, program_.launches[k].arguments,
                                   extents_[k], number_);
      for (const AccessGroup& group : footprints_[k].accesses) {
        const auto reached = ranges.of(group);
        if (!reached) {
          fmt::format_to(to, "{} ?\n", group.where);
          continue;
        }
        fmt::format_to(to, "{} m{} {} {}\n", group.where, reached->memory,
                       text_of_wide(reached->begin), text_of_wide(reached->end));
      }
    }
    return out;
  }

  std::string witnesses() const {
    std::string out;
    auto to = std::back_inserter(out);
    std::vector<overlap::Witnesses> witnesses;
    for (std::size_t k = 0; k < launches_.size(); ++k) {
      if (footprints_[k].code == nullptr) {
        witnesses.emplace_back();
        continue;
      }
      const LaunchExtents& extents = extents_[k];
      const std::array<std::uint32_t, 3> last = {extents.block[0] - 1, extents.block[1] - 1,
                                                 extents.block[2] - 1};
      for (const overlap::ThreadPosition& thread :
           {overlap::ThreadPosition{},
            overlap::ThreadPosition{last, {extents.grid[0] - 1, 0, 0}}}) {
        std::uint64_t steps = kWalkSteps;
        std::vector<overlap::CertainAccess> found;
        walk_certainly(footprints_[k], program_.launches[k].arguments, extents, thread, number_,
                       steps, found);
        fmt::format_to(to, "thread {}: {} in {} steps:", thread.tid, found.size(),
                       kWalkSteps - steps);
        for (std::size_t n = 0; n < std::min(found.size(), kShownAccesses); ++n) {
          fmt::format_to(to, " {} m{} {:x}..{:x}{}", found[n].operation, found[n].memory,
                         found[n].begin, found[n].end, found[n].unordered ? "!" : "");
        }
        out += '\n';
      }
      std::uint64_t steps = kWitnessSteps;
      witnesses.emplace_back(footprints_[k], program_.launches[k].arguments, extents, number_,
                             steps);
      fmt::format_to(to, "search left {}\n", steps);
    }
    for (std::size_t k = 0; k < witnesses.size(); ++k) {
      for (std::size_t other = 0; other <= k; ++other) add_meetings(witnesses, k, other, out);
    }
    return out;
  }

  // With evidence and without. The launches follow each other twice, as in a loop.
  std::string verdicts() {
    std::string out;
    auto to = std::back_inserter(out);
    for (const bool with_evidence : {false, true}) {
      overlap::LaunchChain chain([](overlap::MemoryId id) { return id == kWeight; },
                                 [](overlap::MemoryId id) {
                                   return id == kFrozen ? std::optional(kCounter) : std::nullopt;
                                 });
      overlap::EvidenceBudget budget{.witness_steps = kWitnessSteps * 4};
      std::deque<overlap::ExaminedLaunch> examined;
      for (std::size_t k = 0; k < 2 * launches_.size(); ++k) {
        const std::size_t at = k % launches_.size();
        BoundLaunch launch = with_evidence ? refined_[at] : launches_[at];
        launch.number = static_cast<std::uint32_t>(k);
        const bool programmatic = k != 0 && program_.launches[at].programmatic;
        if (!programmatic) examined.clear();
        overlap::ExaminedLaunch& own = examined.emplace_back(
            footprints_[at], program_.launches[at].arguments, extents_[at], number_, budget);
        overlap::LaunchEvidence evidence(
            own,
            [&](std::uint32_t position) -> overlap::ExaminedLaunch& { return examined[position]; });
        if (programmatic) {
          fmt::format_to(to, "{}: {}\n", k,
                         verdict_text(chain.judge(launch, with_evidence ? &evidence : nullptr)));
        }
        chain.follow(launch, programmatic);
        if (chain.has_transitive_gap()) out += "gap\n";
      }
    }
    return out;
  }

  std::string of_kernels(std::string (*text)(const Footprint&, const RecordedLaunch&)) const {
    std::string out;
    for (std::size_t k = 0; k < footprints_.size(); ++k) {
      out += text(footprints_[k], program_.launches[k]);
    }
    return out;
  }

  std::string rewritings() const {
    std::string out;
    std::set<const ptx::Function*> seen;
    for (std::size_t k = 0; k < footprints_.size(); ++k) {
      const ptx::Function& kernel = *program_.launches[k].kernel;
      if (!seen.insert(&kernel).second) continue;
      out += rewriting_text(program_.module, footprints_[k], kernel);
    }
    return out;
  }

  std::string rewritings_together() const {
    std::set<const ptx::Function*> kernels;
    for (const RecordedLaunch& launch : program_.launches) kernels.insert(launch.kernel);
    return rewriting_text_of_all(program_.module, {kernels.begin(), kernels.end()});
  }

 private:
  void add(const RecordedLaunch& launch) {
    const Footprint& footprint = footprints_.emplace_back(
        overlap::read_footprint(program_.module, *launch.kernel, launch.block));
    extents_.push_back({launch.block, launch.grid});
    BoundLaunch bound =
        overlap::bind(footprint, launch.arguments, launch.block, launch.grid, number_);
    launches_.push_back(bound);
    refine(bound, launch.arguments, launch.block, launch.grid);
    refined_.push_back(std::move(bound));
  }

  void add_meetings(const std::vector<overlap::Witnesses>& witnesses, std::size_t own,
                    std::size_t other, std::string& out) const {
    for (const AccessGroup& a : footprints_[own].accesses) {
      for (const AccessGroup& b : footprints_[other].accesses) {
        out += witnesses[own].meets(a, witnesses[other], b, false) ? 'm' : '.';
        out += witnesses[own].meets(a, witnesses[other], b, true) ? 'u' : '.';
      }
      if (own != other) continue;
      for (const overlap::MemoryId memory : {'x', 'y', 'w'}) {
        out += witnesses[own].has(a, memory) ? 'h' : '.';
      }
    }
    out += '\n';
  }

  const RecordedProgram& program_;
  const overlap::VariableNumber number_ = variable_number;
  std::deque<Footprint> footprints_;
  std::vector<LaunchExtents> extents_;
  std::vector<BoundLaunch> launches_, refined_;
};

std::string orders(const Footprint& footprint, const RecordedLaunch& launch) {
  if (footprint.code == nullptr) return "";
  return order_text(*footprint.code, launch.block) + order_text(*footprint.code, {});
}

}  // namespace

std::vector<Section> analysis_of(const RecordedProgram& program) {
  Analysis analysis(program);
  const auto code = [](const Footprint& footprint, const RecordedLaunch&) {
    return footprint.code == nullptr ? std::string() : code_text(*footprint.code);
  };
  const auto footprint = [](const Footprint& each, const RecordedLaunch&) {
    return footprint_text(each);
  };
  return {{"code", analysis.of_kernels(code)},
          {"order", analysis.of_kernels(orders)},
          {"footprint", analysis.of_kernels(footprint)},
          {"values", analysis.of_kernels(values_text)},
          {"bound", analysis.bound()},
          {"ranges", analysis.ranges()},
          {"witnesses", analysis.witnesses()},
          {"verdicts", analysis.verdicts()},
          {"rewriting", analysis.rewritings()},
          {"together", analysis.rewritings_together()}};
}

}  // namespace baton::record
