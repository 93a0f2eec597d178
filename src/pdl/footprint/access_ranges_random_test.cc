#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "pdl/footprint/access_ranges.h"
#include "pdl/footprint/bound.h"
#include "pdl/footprint/range_launch.h"
#include "pdl/test_support.h"

namespace baton::overlap::access_ranges_random_test {
namespace {

// Programs of arithmetic, conditions and loops: each thread is executed, and no access lies outside
// of what was told. BATON_GENERATED_PROGRAMS sets their number, BATON_GENERATED_SEED the first
// seed.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    text_ =
        ".reg .b32 %v<6>; .reg .b64 %w<4>; .reg .pred %q<64>;\n"
        "mov.u32 %v0, %tid.x; mov.u32 %v1, %ctaid.x; mov.u32 %v2, %r0; mov.u32 %v3, 3;\n"
        "mov.u32 %v4, %tid.y; mov.u32 %v5, %nctaid.x;\n"
        "mov.u64 %w0, 0; cvt.u64.u32 %w1, %v0; mov.u64 %w2, %a; mov.u64 %w3, %b;\n";
    block(0);
    access();
  }
  const std::string& text() const { return text_; }

 private:
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  std::string word() { return fmt::format("%v{}", pick(6)); }
  std::string wide() { return fmt::format("%w{}", pick(2)); }
  std::string pointer() { return fmt::format("%w{}", 2 + pick(2)); }
  std::string operand() { return pick(3) == 0 ? std::to_string(number()) : word(); }
  int number() {
    static constexpr int kNumbers[] = {0, 1, 2, 3, 4, 7, 8, 16, 31, 100, -1, -4, 2147483647};
    return kNumbers[pick(13)];
  }
  std::string label() { return fmt::format("L{}", labels_++); }
  std::string sign() { return pick(2) == 0 ? "s" : "u"; }

  void block(unsigned depth) {
    for (unsigned k = 0, count = 1 + pick(4); k < count; ++k) {
      switch (pick(depth < 3 ? 8 : 5)) {
        case 5:
          condition(depth);
          break;
        case 6:
          loop(depth);
          break;
        case 7:
          leave();
          break;
        case 4:
          access();
          break;
        default:
          arithmetic();
      }
    }
  }

  void arithmetic() {
    static constexpr const char* kTwo[] = {"add", "sub", "mul.lo", "min", "max"};
    switch (pick(14)) {
      case 12:
        rest();
        break;
      case 13:
        text_ += fmt::format("setp.{}.{}32 %q{}, {}, {};\nselp.b64 {}, {}, {}, %q{};\n",
                             comparison(), sign(), predicates_, word(), operand(), pointer(),
                             pointer(), pointer(), predicates_);
        predicates_ = (predicates_ + 1) % 64;
        break;
      case 0:
        text_ += fmt::format("mad.lo.{}32 {}, {}, {}, {};\n", sign(), word(), word(), operand(),
                             operand());
        break;
      case 1:
        text_ += fmt::format("mul.wide.{}32 {}, {}, {};\n", sign(), wide(), word(), operand());
        break;
      case 2:
        text_ += fmt::format("cvt.{}64.{}32 {}, {};\n", sign(), sign(), wide(), word());
        break;
      case 3:
        text_ += fmt::format("cvt.{}32.{}64 {}, {};\n", sign(), sign(), word(), wide());
        break;
      case 4:
        text_ += fmt::format("{}.b32 {}, {}, {};\n",
                             pick(2) == 0   ? "and"
                             : pick(2) == 0 ? "or"
                                            : "xor",
                             word(), word(), operand());
        break;
      case 5:
        text_ += fmt::format("{}32 {}, {}, {};\n", pick(2) == 0 ? "shl.b" : "shr." + sign(), word(),
                             word(), pick(6));
        break;
      case 6:
        text_ += fmt::format("{}.{}32 {}, {}, {};\n", pick(2) == 0 ? "div" : "rem", sign(), word(),
                             word(), 1 + pick(9));
        break;
      case 7:
        text_ +=
            fmt::format("add.s64 {}, {}, {};\n", pointer(), pointer(),
                        pick(2) == 0 ? wide() : std::to_string(4 * static_cast<int>(pick(9)) - 16));
        break;
      case 8:
        text_ +=
            fmt::format("setp.{}.s32 %q{}, {}, {};\nselp.b32 {}, {}, {}, %q{};\n", comparison(),
                        predicates_, word(), operand(), word(), operand(), word(), predicates_);
        predicates_ = (predicates_ + 1) % 64;
        break;
      case 9:
        text_ += fmt::format("cvt.{}16.{}32 {}, {};\n", sign(), sign(), word(), word());
        break;
      default:
        text_ +=
            fmt::format("{}.{}32 {}, {}, {};\n", kTwo[pick(5)], sign(), word(), word(), operand());
    }
  }

  // The rest of a division by a power of 2, as compilers write it, or with a small change.
  void rest() {
    const std::string x = word(), rounded = word(), rest = word();
    const std::uint32_t bits = 1 + pick(4);
    text_ += fmt::format("shr.s32 {0}, {1}, 31; shr.u32 {0}, {0}, {2};\n", rounded, x, 32 - bits);
    text_ += fmt::format("add.s32 {}, {}, {};\n", rounded, x, pick(5) == 0 ? word() : rounded);
    text_ += fmt::format("and.b32 {0}, {0}, {1};\n", rounded, -(1 << bits));
    text_ += fmt::format("sub.s32 {}, {}, {};\n", rest, x, rounded);
  }

  std::string comparison() {
    static constexpr const char* kNames[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    return kNames[pick(6)];
  }

  // Leaves a predicate.
  std::string test() {
    const std::string made = fmt::format("%q{}", predicates_++ % 64);
    text_ +=
        fmt::format("setp.{}.{}32 {}, {}, {};\n", comparison(), sign(), made, word(), operand());
    if (pick(4) != 0) return made;
    const std::string other = fmt::format("%q{}", predicates_++ % 64);
    const std::string both = fmt::format("%q{}", predicates_++ % 64);
    text_ +=
        fmt::format("setp.{}.{}32 {}, {}, {};\n", comparison(), sign(), other, word(), operand());
    text_ += fmt::format("{}.pred {}, {}, {};\n", pick(2) == 0 ? "or" : "and", both, made, other);
    return both;
  }

  void condition(unsigned depth) {
    const std::string guard = test(), otherwise = label(), end = label();
    text_ += fmt::format("@{}{} bra {};\n", pick(2) == 0 ? "!" : "", guard, otherwise);
    block(depth + 1);
    if (pick(2) == 0) {
      text_ += fmt::format("bra {};\n{}:\n", end, otherwise);
      block(depth + 1);
      text_ += end + ":\n";
    } else {
      text_ += otherwise + ":\n";
    }
  }

  void loop(unsigned depth) {
    const std::string begin = label(), end = label();
    const std::string counter = word();
    text_ += begin + ":\n";
    const std::string bound = operand();
    const bool tests_first = pick(3) != 0;
    const bool is_down = pick(3) == 0, meets = pick(3) == 0;
    const auto leave_loop = [&](const char* how, const std::string& to) {
      const std::string made = fmt::format("%q{}", predicates_++ % 64);
      text_ += fmt::format("setp.{}.{}32 {}, {}, {};\n@{} bra {};\n", how, sign(), made, counter,
                           bound, made, to);
    };
    const char* const ended = meets ? "eq" : is_down ? "le" : "ge";
    if (tests_first) leave_loop(ended, end);
    block(depth + 1);
    const int step = meets && pick(2) == 0 ? 1 : static_cast<int>(1 + pick(8));
    text_ += fmt::format("{0}.s32 {1}, {1}, {2};\n", is_down && step == 1 ? "sub" : "add", counter,
                         is_down && step != 1 ? -step : step);
    if (pick(3) == 0) {
      text_ += fmt::format("add.s64 {0}, {0}, {1};\n", "%w2", is_down ? -16 : 16);
    }
    if (tests_first) {
      text_ += fmt::format("bra {};\n", begin);
    } else {
      leave_loop(meets ? "ne" : is_down ? "gt" : "lt", begin);
    }
    text_ += end + ":\n";
  }

  void leave() { text_ += fmt::format("@{}{} ret;\n", pick(2) == 0 ? "!" : "", test()); }

  void access() {
    const std::string guard = pick(4) == 0 ? "@" + test() + " " : "";
    const std::string at = pointer();
    if (pick(2) == 0) {
      text_ += fmt::format("{}st.global.u32 [{}+{}], 1;\n", guard, at, 4 * pick(5));
      return;
    }
    text_ += fmt::format("mul.wide.{}32 %d1, {}, 4; add.s64 %d2, {}, %d1;\n", sign(), word(), at);
    text_ += fmt::format("{}st.global.v2.u32 [%d2], {{1, 2}};\n", guard);
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned labels_ = 0, predicates_ = 0;
};

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(AccessRanges, HoldWhatThreadsTouch) {
  const std::uint64_t programs = setting("BATON_GENERATED_PROGRAMS", 3000);
  const std::uint64_t first = setting("BATON_GENERATED_SEED", 1);
  std::uint64_t told = 0, groups = 0, accesses = 0;
  for (std::uint64_t seed = first; seed < first + programs; ++seed) {
    const std::string body = RandomProgram(seed).text();
    const std::vector<GivenArgument> given =
        RangeLaunch::arguments(seed % 5 == 0 ? 0xFFFFFFF0 : seed % 40);
    const Footprint footprint = footprint_of(body);
    ASSERT_NE(footprint.code, nullptr) << body;
    const DefinitionGraph graph(*footprint.code);
    const std::vector<bool> some =
        seed % 2 == 0
            ? std::vector<bool>()
            : executed(footprint, given, RangeLaunch::kExtents.block, RangeLaunch::kExtents.grid);
    AccessRanges ranges(footprint, graph, given, RangeLaunch::kExtents, RangeLaunch::kNumber, some);
    std::vector<CertainAccess> touched;
    for (std::uint32_t thread = 0; thread < 48; ++thread) {
      std::uint64_t steps = 2000;
      walk_certainly(footprint, given, RangeLaunch::kExtents,
                     {{thread % 8, thread / 8 % 2, 0}, {thread / 16, 0, 0}}, RangeLaunch::kNumber,
                     steps, touched);
    }
    for (const AccessGroup& group : footprint.accesses) {
      ++groups;
      const auto found = ranges.of(group);
      if (!found) continue;
      ++told;
      for (const CertainAccess& access : touched) {
        if (!std::ranges::binary_search(group.operations, access.operation)) continue;
        ++accesses;
        const auto begin = static_cast<std::int64_t>(access.begin);
        const auto end = static_cast<std::int64_t>(access.end);
        ASSERT_TRUE(access.memory == found->memory && begin >= found->begin && end <= found->end)
            << "seed " << seed << ": bytes [" << begin << ", " << end << ") of " << access.memory
            << " outside of [" << static_cast<std::int64_t>(found->begin) << ", "
            << static_cast<std::int64_t>(found->end) << ") of " << found->memory << "\n"
            << group.where << "\n"
            << body;
      }
    }
  }
  RecordProperty("told", std::to_string(told));
  RecordProperty("groups", std::to_string(groups));
  RecordProperty("accesses", std::to_string(accesses));
  EXPECT_GT(told, groups / 5);
  EXPECT_GT(accesses, told);
}

}  // namespace
}  // namespace baton::overlap::access_ranges_random_test
