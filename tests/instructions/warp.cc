#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "instructions/suite.h"

// Instructions of a whole warp: shfl, vote, match, redux, activemask, elect and bar.warp (PTX ISA,
// "Parallel Synchronization and Communication Instructions", and shfl.sync under "Data Movement").
namespace baton::instructions {
namespace {

constexpr unsigned kLanes = 32;
constexpr u32 kAll = 0xffffffff;

// Masks of lanes that take part; the others branch around.
constexpr u32 kWarpMasks[] = {kAll,       0x0000ffff, 0xffff0000, 0x55555555,
                              0x80000001, 0x00000100, 0x0ff0f00f};

// Guards a text by %p: the lanes of `mask`, so that only those execute it.
std::string for_lanes(u32 mask, std::string_view text) {
  return fmt::format(
      ".reg .pred %p;\n  .reg .b32 %lane, %bit;\n  mov.u32 %lane, %laneid;\n"
      "  shl.b32 %bit, 1, %lane;\n  and.b32 %bit, %bit, {0:#x};\n  setp.ne.u32 %p, %bit, 0;\n"
      "  {1}",
      mask, text);
}

bool in(u32 mask, unsigned lane) {
  return (mask >> lane & 1) != 0;
}

// Adds a case whose reference sees the inputs of one warp: get(operand, lane), put(result, lane).
struct Warp {
  const u64* inputs;
  u64* results;
  std::size_t arity, outputs;
  u64 get(std::size_t operand, unsigned lane) const { return inputs[lane * arity + operand]; }
  void put(std::size_t result, unsigned lane, u64 bits) const {
    results[(lane * outputs + result) * kSlotsPerResult] = bits;
  }
};

template <typename F>
Case& add_warp_case(Group& group, std::string text, std::vector<Kind> inputs,
                    std::vector<Kind> outputs, F reference) {
  std::vector<Result> results;
  for (const Kind kind : outputs) results.push_back({kind, Match::kBits});
  const std::size_t arity = inputs.size(), count = outputs.size();
  return group.add_rows(std::move(text), std::move(inputs), std::move(results), kLanes,
                        [=](const u64* in_rows, u64* out_rows) {
                          reference(Warp{in_rows, out_rows, arity, count});
                        });
}

struct Shuffle {
  std::string_view name;
  // The source lane, by the ISA's names; false where it is out of range.
  bool (*source)(s32 lane, s32 b, s32 max_lane, s32 min_lane, s32 segment, s32& j);
};
constexpr Shuffle kShuffles[] = {
    {"up",
     [](s32 lane, s32 b, s32 max_lane, s32, s32, s32& j) {
       j = lane - b;
       return j >= max_lane;
     }},
    {"down",
     [](s32 lane, s32 b, s32 max_lane, s32, s32, s32& j) {
       j = lane + b;
       return j <= max_lane;
     }},
    {"bfly",
     [](s32 lane, s32 b, s32 max_lane, s32, s32, s32& j) {
       j = lane ^ b;
       return j <= max_lane;
     }},
    {"idx",
     [](s32, s32 b, s32 max_lane, s32 min_lane, s32 segment, s32& j) {
       j = min_lane | (b & ~segment & 31);
       return j <= max_lane;
     }},
};

void add_shuffles(Family& family) {
  for (const Shuffle& shuffle : kShuffles) {
    Group& group = family.group(fmt::format("shfl_{}", shuffle.name));
    const bool up = shuffle.name == "up";
    // Clamp in bits 0-4, the segment's mask in bits 8-12: whole warps, halves, quarters, eighths;
    // and clamps within.
    for (const u32 control : {up ? 0x0u : 0x1fu, up ? 0x1000u : 0x101fu, up ? 0x1800u : 0x181fu,
                              up ? 0x1c00u : 0x1c1fu, 0x0005u, 0x1803u, 0x1f1fu, 0x0010u}) {
      for (const bool uniform : {false, true}) {
        // The lane's own amount, or one for the warp; only its five low bits count.
        Values amounts = range(0, 40);
        amounts.edges.push_back(0xffffffff);
        Case& added = add_warp_case(
            group,
            fmt::format("shfl.sync.{}.b32 %d|%x, %a, %b, {:#x}, 0xffffffff;", shuffle.name,
                        control),
            {Kind::kU32, Kind::kU32}, {Kind::kU32, Kind::kPred},
            [&shuffle, control](const Warp& warp) {
              const s32 clamp = control & 31, segment = control >> 8 & 31;
              for (unsigned lane = 0; lane < kLanes; ++lane) {
                const s32 own = static_cast<s32>(lane);
                const s32 max_lane = (own & segment) | (clamp & ~segment);
                const s32 min_lane = own & segment;
                s32 j = 0;
                const bool inside = shuffle.source(own, static_cast<s32>(warp.get(1, lane) & 31),
                                                   max_lane, min_lane, segment, j);
                warp.put(0, lane, warp.get(0, inside ? static_cast<unsigned>(j) : lane));
                warp.put(1, lane, inside);
              }
            });
        added.operand(1, amounts);
        if (uniform) added.uniform(1);
      }
    }
    group.add_rows(fmt::format("shfl.sync.{}.b32 %d, %a, {}, {}, 0xffffffff;", shuffle.name,
                               up ? 1 : 3, up ? 0 : 31),
                   {Kind::kU32}, {{Kind::kU32, Match::kBits}}, kLanes,
                   [&shuffle, up](const u64* in_rows, u64* out_rows) {
                     for (unsigned lane = 0; lane < kLanes; ++lane) {
                       s32 j = 0;
                       const bool inside =
                           shuffle.source(static_cast<s32>(lane), up ? 1 : 3, up ? 0 : 31, 0, 0, j);
                       out_rows[lane * kSlotsPerResult] =
                           in_rows[inside ? static_cast<unsigned>(j) : lane];
                     }
                   });
  }
  // Half of a warp among itself, while the other half is elsewhere.
  Group& partial = family.group("shfl_partial");
  for (const u32 mask : {0x0000ffffu, 0xffff0000u}) {
    add_warp_case(
        partial,
        for_lanes(mask, fmt::format("mov.u32 %d, %a;\n  @%p shfl.sync.bfly.b32 %d, %a, %b, "
                                    "0x101f, {:#x};",
                                    mask)),
        {Kind::kU32, Kind::kU32}, {Kind::kU32},
        [mask](const Warp& warp) {
          for (unsigned lane = 0; lane < kLanes; ++lane) {
            const unsigned other = lane ^ (warp.get(1, lane) & 15);
            warp.put(0, lane, warp.get(0, in(mask, lane) ? other : lane));
          }
        })
        .operand(1, range(0, 15))
        .uniform(1);
  }
}

// Predicates that are all equal in some warps.
Values biased() {
  return {{0, 1}, nullptr};
}

void add_votes(Group& group) {
  for (const u32 mask : kWarpMasks) {
    struct Vote {
      std::string_view name;
      bool (*holds)(u32 votes, u32 mask);
    };
    static constexpr Vote kVotes[] = {
        {"all", [](u32 votes, u32 members) { return votes == members; }},
        {"any", [](u32 votes, u32) { return votes != 0; }},
        {"uni", [](u32 votes, u32 members) { return votes == members || votes == 0; }}};
    const auto ballot = [mask](const Warp& warp, bool negated) {
      u32 votes = 0;
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (in(mask, lane) && (warp.get(0, lane) != 0) != negated) votes |= u32{1} << lane;
      }
      return votes;
    };
    for (const Vote& vote : kVotes) {
      for (const bool negated : {false, true}) {
        for (const bool uniform : {false, true}) {
          Case& added = add_warp_case(
              group,
              for_lanes(mask, fmt::format("mov.pred %d, %a;\n  @%p vote.sync.{}.pred %d, {}%a, "
                                          "{:#x};",
                                          vote.name, negated ? "!" : "", mask)),
              {Kind::kPred}, {Kind::kPred}, [=, &vote](const Warp& warp) {
                const bool result = vote.holds(ballot(warp, negated), mask);
                for (unsigned lane = 0; lane < kLanes; ++lane) {
                  warp.put(0, lane, in(mask, lane) ? result : warp.get(0, lane) != 0);
                }
              });
          if (uniform) added.operand(0, biased()).uniform(0);
        }
      }
    }
    for (const bool negated : {false, true}) {
      add_warp_case(
          group,
          for_lanes(mask, fmt::format("mov.u32 %d, 7;\n  @%p vote.sync.ballot.b32 %d, {}%a, "
                                      "{:#x};",
                                      negated ? "!" : "", mask)),
          {Kind::kPred}, {Kind::kU32}, [=](const Warp& warp) {
            const u32 votes = ballot(warp, negated);
            for (unsigned lane = 0; lane < kLanes; ++lane) {
              warp.put(0, lane, in(mask, lane) ? votes : 7);
            }
          });
    }
  }
}

template <typename T>
void add_matches(Group& group) {
  constexpr Kind kKind = kind_of<T>();
  const unsigned bits = sizeof(T) * 8;
  for (const u32 mask : kWarpMasks) {
    for (const bool uniform : {false, true}) {
      // Few different values, so that some agree.
      Values values = only({0, 1, from_bits<T>(~u64{0}), from_bits<T>(u64{1} << (bits - 1))});
      Case& any = add_warp_case(
          group,
          for_lanes(mask, fmt::format("mov.u32 %d, 7;\n  @%p match.any.sync.b{} %d, %a, {:#x};",
                                      bits, mask)),
          {kKind}, {Kind::kU32}, [mask](const Warp& warp) {
            for (unsigned lane = 0; lane < kLanes; ++lane) {
              u32 equal = 0;
              for (unsigned other = 0; other < kLanes; ++other) {
                if (in(mask, other) && warp.get(0, other) == warp.get(0, lane)) {
                  equal |= u32{1} << other;
                }
              }
              warp.put(0, lane, in(mask, lane) ? equal : 7);
            }
          });
      Case& all =
          add_warp_case(group,
                        for_lanes(mask, fmt::format("mov.u32 %d, 7;\n  setp.eq.u32 %x, %d, 7;\n"
                                                    "  @%p match.all.sync.b{} %d|%x, %a, {:#x};",
                                                    bits, mask)),
                        {kKind}, {Kind::kU32, Kind::kPred}, [mask](const Warp& warp) {
                          const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
                          bool agree = true;
                          for (unsigned lane = 0; lane < kLanes; ++lane) {
                            if (in(mask, lane))
                              agree = agree && warp.get(0, lane) == warp.get(0, first);
                          }
                          for (unsigned lane = 0; lane < kLanes; ++lane) {
                            warp.put(0, lane, in(mask, lane) ? (agree ? mask : 0) : 7);
                            warp.put(1, lane, in(mask, lane) ? agree : true);
                          }
                        });
      any.operand(0, values);
      all.operand(0, values);
      if (uniform) {
        any.uniform(0);
        all.uniform(0);
      }
    }
  }
}

template <typename T, typename F>
void add_reduction(Group& group, std::string_view name, std::string_view type, F fold) {
  for (const u32 mask : kWarpMasks) {
    add_warp_case(
        group,
        for_lanes(mask, fmt::format("mov.u32 %d, %a;\n  @%p redux.sync.{}.{} %d, %a, {:#x};", name,
                                    type, mask)),
        {Kind::kU32}, {Kind::kU32}, [mask, fold](const Warp& warp) {
          const unsigned first = static_cast<unsigned>(std::countr_zero(mask));
          T result = static_cast<T>(warp.get(0, first));
          for (unsigned lane = first + 1; lane < kLanes; ++lane) {
            if (in(mask, lane)) result = fold(result, static_cast<T>(warp.get(0, lane)));
          }
          for (unsigned lane = 0; lane < kLanes; ++lane) {
            warp.put(0, lane, in(mask, lane) ? to_bits(result) : warp.get(0, lane));
          }
        });
  }
}

void add_reductions(Group& group) {
  const auto add = [](u32 a, u32 b) { return a + b; };
  add_reduction<u32>(group, "add", "u32", add);
  add_reduction<u32>(group, "add", "s32", add);
  add_reduction<u32>(group, "min", "u32", [](u32 a, u32 b) { return std::min(a, b); });
  add_reduction<u32>(group, "max", "u32", [](u32 a, u32 b) { return std::max(a, b); });
  add_reduction<s32>(group, "min", "s32", [](s32 a, s32 b) { return std::min(a, b); });
  add_reduction<s32>(group, "max", "s32", [](s32 a, s32 b) { return std::max(a, b); });
  add_reduction<u32>(group, "and", "b32", [](u32 a, u32 b) { return a & b; });
  add_reduction<u32>(group, "or", "b32", [](u32 a, u32 b) { return a | b; });
  add_reduction<u32>(group, "xor", "b32", [](u32 a, u32 b) { return a ^ b; });
}

// Lanes of one warp that execute together and name different members: each mask is a group of its
// own. Lanes with the same number modulo `parts` make one here.
void add_groups(Group& group) {
  for (const u32 parts : {2u, 3u}) {
    const auto members = [parts](unsigned lane) {
      u32 mask = 0;
      for (unsigned other = 0; other < kLanes; ++other) {
        if (other % parts == lane % parts) mask |= u32{1} << other;
      }
      return mask;
    };
    std::string text =
        ".reg .b32 %m, %l;\n  .reg .pred %q;\n  mov.u32 %l, %laneid;\n"
        "  rem.u32 %l, %l, " +
        std::to_string(parts) + ";\n";
    text += fmt::format("  mov.u32 %m, {:#x};\n", members(0));
    for (unsigned k = 1; k < parts; ++k) {
      text +=
          fmt::format("  setp.eq.u32 %q, %l, {};\n  selp.b32 %m, {:#x}, %m, %q;\n", k, members(k));
    }
    add_warp_case(group,
                  text +
                      "  redux.sync.add.u32 %d, %a, %m;\n  setp.lt.s32 %q, %a, 0;\n"
                      "  vote.sync.ballot.b32 %x, %q, %m;\n"
                      "  and.b32 %l, %a, 3;\n  match.any.sync.b32 %y, %l, %m;\n"
                      "  bar.warp.sync %m;",
                  {Kind::kU32}, {Kind::kU32, Kind::kU32, Kind::kU32}, [members](const Warp& warp) {
                    for (unsigned lane = 0; lane < kLanes; ++lane) {
                      u32 sum = 0, votes = 0, equal = 0;
                      for (unsigned other = 0; other < kLanes; ++other) {
                        if (!in(members(lane), other)) continue;
                        const auto value = static_cast<u32>(warp.get(0, other));
                        const auto own = static_cast<u32>(warp.get(0, lane));
                        sum += value;
                        votes |= (value >> 31) << other;
                        equal |= u32{(value & 3) == (own & 3)} << other;
                      }
                      warp.put(0, lane, sum);
                      warp.put(1, lane, votes);
                      warp.put(2, lane, equal);
                    }
                  });
    // The same where the lanes arrive one group after another, and by shuffles.
    add_warp_case(group,
                  text +
                      "  mov.u32 %d, %a;\n  setp.eq.u32 %q, %l, 0;\n  @%q bra MEET;\n"
                      "  add.u32 %d, %d, 1;\nMEET:\n  redux.sync.max.u32 %d, %d, %m;\n"
                      "  mov.u32 %l, %laneid;\n  add.u32 %l, %l, " +
                      std::to_string(parts) +
                      ";\n  setp.gt.u32 %q, %l, 31;\n  @%q mov.u32 %l, %laneid;\n"
                      "  shfl.sync.idx.b32 %x, %d, %l, 31, %m;",
                  {Kind::kU32}, {Kind::kU32, Kind::kU32}, [members, parts](const Warp& warp) {
                    const auto result = [&](unsigned lane) {
                      u32 greatest = 0;
                      for (unsigned other = 0; other < kLanes; ++other) {
                        if (!in(members(lane), other)) continue;
                        const auto value = static_cast<u32>(warp.get(0, other));
                        greatest = std::max(greatest, value + (other % parts == 0 ? 0 : 1));
                      }
                      return greatest;
                    };
                    for (unsigned lane = 0; lane < kLanes; ++lane) {
                      warp.put(0, lane, result(lane));
                      warp.put(1, lane, result(lane + parts < kLanes ? lane + parts : lane));
                    }
                  });
  }
}

void add_masks(Group& group) {
  // Which lanes run together is the device's choice: the own lane does, others only if they came
  // the same way.
  for (const u32 mask : kWarpMasks) {
    add_warp_case(
        group,
        for_lanes(mask, fmt::format("mov.u32 %d, 1;\n  @!%p bra AROUND;\n"
                                    "  activemask.b32 %d;\n  not.b32 %bit, {:#x};\n"
                                    "  and.b32 %bit, %d, %bit;\n  shr.u32 %d, %d, %lane;\n"
                                    "  and.b32 %d, %d, 1;\n  or.b32 %d, %d, %bit;\nAROUND:",
                                    mask)),
        {Kind::kU32}, {Kind::kU32}, [](const Warp& warp) {
          for (unsigned lane = 0; lane < kLanes; ++lane) warp.put(0, lane, 1);
        });
    // One lane of the mask is elected, the same for all; %d names it.
    add_warp_case(group,
                  for_lanes(mask, fmt::format(".reg .pred %q;\n  .reg .b32 %l, %v, %m;\n"
                                              "  mov.u32 %d, 1;\n  @!%p bra AROUND;\n"
                                              "  elect.sync %l|%q, {0:#x};\n"
                                              "  vote.sync.ballot.b32 %v, %q, {0:#x};\n"
                                              "  shl.b32 %m, 1, %l;\n  setp.eq.u32 %q, %m, %v;\n"
                                              "  and.b32 %m, %m, {0:#x};\n"
                                              "  setp.ne.and.u32 %q, %m, 0, %q;\n"
                                              "  selp.u32 %d, 1, 0, %q;\nAROUND:",
                                              mask)),
                  {Kind::kU32}, {Kind::kU32}, [](const Warp& warp) {
                    for (unsigned lane = 0; lane < kLanes; ++lane) warp.put(0, lane, 1);
                  });
  }
  // bar.warp.sync orders what the lanes write in shared memory before it and read after it.
  add_warp_case(group,
                ".shared .align 4 .b8 words[512];\n  .reg .b32 %p, %q;\n  mov.u32 %p, words;\n"
                "  mad.lo.u32 %q, %tid_, 4, %p;\n  st.shared.u32 [%q], %a;\n"
                "  bar.warp.sync 0xffffffff;\n  xor.b32 %q, %tid_, 5;\n"
                "  mad.lo.u32 %q, %q, 4, %p;\n  ld.shared.u32 %d, [%q];",
                {Kind::kU32}, {Kind::kU32}, [](const Warp& warp) {
                  for (unsigned lane = 0; lane < kLanes; ++lane) {
                    warp.put(0, lane, warp.get(0, lane ^ 5));
                  }
                });
}

// Lanes that part by their data and meet again: each takes its own number of turns.
void add_divergence(Group& group) {
  add_warp_case(group,
                ".reg .pred %p;\n  .reg .b32 %n;\n  and.b32 %n, %a, 31;\n  mov.u32 %d, %b;\n"
                "TURN:\n  setp.eq.u32 %p, %n, 0;\n  @%p bra OUT;\n"
                "  mad.lo.u32 %d, %d, 1664525, 1013904223;\n  sub.u32 %n, %n, 1;\n  bra TURN;\n"
                "OUT:\n  shfl.sync.bfly.b32 %d, %d, 1, 31, 0xffffffff;",
                {Kind::kU32, Kind::kU32}, {Kind::kU32}, [](const Warp& warp) {
                  std::array<u32, kLanes> value;
                  for (unsigned lane = 0; lane < kLanes; ++lane) {
                    value[lane] = static_cast<u32>(warp.get(1, lane));
                    for (u64 turn = warp.get(0, lane) & 31; turn > 0; --turn) {
                      value[lane] = value[lane] * 1664525 + 1013904223;
                    }
                  }
                  for (unsigned lane = 0; lane < kLanes; ++lane) {
                    warp.put(0, lane, value[lane ^ 1]);
                  }
                });
  // A branch through a table, a different way for each value.
  add_warp_case(group,
                ".reg .b32 %i;\n  and.b32 %i, %a, 3;\n  TABLE: .branchtargets L0, L1, L2, L3;\n"
                "  brx.idx %i, TABLE;\nL0:\n  add.u32 %d, %a, 10;\n  bra JOIN;\n"
                "L1:\n  mul.lo.u32 %d, %a, 3;\n  bra JOIN;\nL2:\n  not.b32 %d, %a;\n  bra JOIN;\n"
                "L3:\n  shl.b32 %d, %a, 4;\nJOIN:",
                {Kind::kU32}, {Kind::kU32}, [](const Warp& warp) {
                  for (unsigned lane = 0; lane < kLanes; ++lane) {
                    const u32 a = static_cast<u32>(warp.get(0, lane));
                    const u32 ways[] = {a + 10, a * 3, ~a, a << 4};
                    warp.put(0, lane, ways[a & 3]);
                  }
                });
}

}  // namespace

void add_warp(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "warp";
  add_shuffles(family);
  add_votes(family.group("vote"));
  add_groups(family.group("groups"));
  Group& matches = family.group("match");
  add_matches<u32>(matches);
  add_matches<u64>(matches);
  add_reductions(family.group("redux"));
  add_masks(family.group("masks"));
  add_divergence(family.group("divergence"));
}

}  // namespace baton::instructions
