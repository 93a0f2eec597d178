#include "generated_family.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

namespace baton::verdicts {
namespace {

constexpr std::uint64_t kAtOnce = 32;  // chains that are made before they run

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

using Generate = std::function<GeneratedChain(std::uint64_t seed)>;

std::vector<GeneratedChain> next_chains(const GeneratedRange& range, std::uint64_t at,
                                        const Generate& generate) {
  std::vector<GeneratedChain> chains;
  for (std::uint64_t k = at; k < std::min(range.count, at + kAtOnce); ++k) {
    chains.push_back(generate(range.first + k));
  }
  return chains;
}

std::string text_of(const GeneratedChain& chain) {
  std::string text;
  for (const GeneratedLaunch& launch : chain.launches) {
    text += fmt::format("{}: grid {}, cluster {}, block {}, arguments {} at {}, {}\n{}\n",
                        text.empty() ? "full" : "early", fmt::join(launch.grid, " "),
                        launch.cluster, fmt::join(launch.block, " "), launch.buffers,
                        fmt::join(launch.offsets, " "), launch.number, kernel_text(launch, "k"));
  }
  return text;
}

}  // namespace

GeneratedRange generated_range(std::uint64_t otherwise) {
  return {setting("BATON_GENERATED_PROGRAMS", otherwise), setting("BATON_GENERATED_SEED", 1)};
}

FamilyCount hold_family(const GeneratedRange& range,
                        const std::function<GeneratedChain(std::uint64_t seed)>& generate,
                        std::uint64_t may_break) {
  FamilyCount count;
  const bool shows = std::getenv("BATON_GENERATED_SHOW") != nullptr;
  for (std::uint64_t at = 0; at < range.count; at += kAtOnce) {
    const std::vector<GeneratedChain> chains = next_chains(range, at, generate);
    const Schedule schedules[] = {{ScheduleKind::kSerial},
                                  {ScheduleKind::kLate},
                                  {ScheduleKind::kEarly},
                                  {ScheduleKind::kReverse},
                                  {ScheduleKind::kRandom, range.first + at}};
    const std::vector<ChainOutcome> outcomes = outcomes_of(chains, schedules);
    for (std::size_t k = 0; k < chains.size(); ++k) {
      const ChainOutcome& outcome = outcomes[k];
      if (!outcome.broken.empty()) {
        ++count.broken;
        if (may_break != 0 && !shows) continue;
        fmt::print("seed {} is broken: {}\n", chains[k].seed, outcome.broken);
        if (shows) fmt::print("{}", text_of(chains[k]));
        continue;
      }
      const bool is_found = outcome.found != 0;
      switch (outcome.verdict) {
        case EdgeVerdict::kProven:
          ++count.proven;
          EXPECT_FALSE(is_found) << "seed " << chains[k].seed << " is proven, and races\n"
                                 << outcome.finding << "\n"
                                 << text_of(chains[k]);
          break;
        case EdgeVerdict::kUnsafe:
          ++count.unsafe;
          if (is_found) break;
          ++count.unconfirmed;
          fmt::print("seed {} is unsafe, and no race was found: {}\n", chains[k].seed,
                     outcome.reason);
          if (shows) fmt::print("{}", text_of(chains[k]));
          break;
        case EdgeVerdict::kUnknown:
          ++count.unknown;
          count.unknown_races += is_found ? 1 : 0;
          break;
      }
    }
  }
  EXPECT_LE(count.broken, range.count * may_break / 100);
  EXPECT_LE(count.unconfirmed, count.unsafe / 200);
  fmt::print(
      "{} proven, {} unsafe of which {} were not found, {} unknown of which {} race, {} broken, "
      "from seed {}\n",
      count.proven, count.unsafe, count.unconfirmed, count.unknown, count.unknown_races,
      count.broken, range.first);
  return count;
}

void hold_metamorphoses(const GeneratedRange& range,
                        const std::function<GeneratedChain(std::uint64_t seed)>& generate,
                        std::uint64_t may_break) {
  enum class Dead { kNothing, kLoads, kStores };
  std::uint64_t weaker = 0, proven = 0, broken = 0;
  for (std::uint64_t at = 0; at < range.count; at += kAtOnce) {
    const std::vector<GeneratedChain> chains = next_chains(range, at, generate);
    std::vector<GeneratedChain> changed = chains;
    const auto dead = [](const GeneratedChain& chain) { return static_cast<Dead>(chain.seed % 3); };
    for (GeneratedChain& chain : changed) {
      chain.metamorphosis = {.seed = chain.seed};
      const std::size_t weight = chain.launches[0].buffers.find('w');
      if (dead(chain) == Dead::kLoads) {
        chain.metamorphosis->dead = fmt::format(
            "{{ .reg .b64 %dead; .reg .b32 %value; ld.param.u64 %dead, [p{}];\n"
            "ld.global.u32 %value, [%dead+64]; }}",
            weight);
      } else if (dead(chain) == Dead::kStores) {
        chain.metamorphosis->dead =
            "{ .reg .b64 %dead; .reg .b32 %value; .reg .pred %never; ld.param.u64 %dead, [p0];\n"
            "mov.u32 %value, %ntid.x; setp.eq.u32 %never, %value, 0;\n"
            "@%never st.global.u32 [%dead], 1; }";
      }
    }
    const Schedule schedules[] = {{ScheduleKind::kSerial}, {ScheduleKind::kRandom, at + 1}};
    const std::vector<ChainOutcome> before = outcomes_of(chains, {});
    const std::vector<ChainOutcome> after = outcomes_of(changed, schedules);
    for (std::size_t k = 0; k < chains.size(); ++k) {
      if (may_break != 0 && !after[k].broken.empty()) {
        ++broken;
        continue;
      }
      const EdgeVerdict was = before[k].verdict, is = after[k].verdict;
      const bool stays = is == was;
      const bool is_weaker = is == EdgeVerdict::kUnknown && dead(chains[k]) != Dead::kNothing;
      proven += is == EdgeVerdict::kProven ? 1 : 0;
      weaker += stays ? 0 : 1;
      EXPECT_EQ(after[k].broken, "") << "seed " << chains[k].seed;
      EXPECT_TRUE(stays || is_weaker)
          << "seed " << chains[k].seed << " was " << to_string(was) << " and is " << to_string(is)
          << ": " << before[k].reason << " | " << after[k].reason << "\n"
          << text_of(chains[k]);
      EXPECT_FALSE(is == EdgeVerdict::kProven && after[k].found != 0)
          << "seed " << chains[k].seed << " is proven, and races\n"
          << after[k].finding << "\n"
          << text_of(chains[k]);
    }
  }
  EXPECT_LE(broken, range.count * may_break / 100);
  fmt::print("{} changed, {} proven, {} weaker than before, from seed {}\n", range.count, proven,
             weaker, range.first);
}

}  // namespace baton::verdicts
