#include <fmt/core.h>

#include <string>
#include <string_view>

#include "instructions/suite.h"

// Barriers of a block (PTX ISA, "Parallel Synchronization and Communication Instructions": bar,
// barrier). What they order shows in shared memory.
namespace baton::instructions {
namespace {

constexpr unsigned kThreads = 128;

template <typename F>
Case& add_block_case(Group& group, std::string text, Kind input, Kind output, F reference) {
  return group.add_rows(std::move(text), {input}, {{output, Match::kBits}}, kThreads,
                        [reference](const u64* in, u64* out) {
                          for (unsigned i = 0; i < kThreads; ++i) {
                            out[i * kSlotsPerResult] = reference(in, i);
                          }
                        });
}

// Every thread writes its word, passes the barrier, and reads another warp's word.
void add_exchange(Group& group, std::string_view barrier) {
  add_block_case(group,
                 fmt::format(".shared .align 4 .b8 words[512];\n  .reg .b32 %p, %q;\n"
                             "  mov.u32 %p, words;\n  mad.lo.u32 %q, %tid_, 4, %p;\n"
                             "  st.shared.u32 [%q], %a;\n  {}\n  xor.b32 %q, %tid_, 0x43;\n"
                             "  mad.lo.u32 %q, %q, 4, %p;\n  ld.shared.u32 %d, [%q];",
                             barrier),
                 Kind::kU32, Kind::kU32,
                 [](const u64* in, unsigned thread) { return in[thread ^ 0x43]; });
}

unsigned count_true(const u64* in, bool negated) {
  unsigned count = 0;
  for (unsigned i = 0; i < kThreads; ++i) count += (in[i] != 0) != negated ? 1 : 0;
  return count;
}

void add_reductions(Group& group, std::string_view opcode, std::string_view count) {
  for (const bool negated : {false, true}) {
    const char* sign = negated ? "!" : "";
    for (const bool uniform : {false, true}) {
      Case& popc = add_block_case(
          group, fmt::format("{}.red.popc.u32 %d, 1{}, {}%a;", opcode, count, sign), Kind::kPred,
          Kind::kU32, [negated](const u64* in, unsigned) { return u64{count_true(in, negated)}; });
      Case& all = add_block_case(
          group, fmt::format("{}.red.and.pred %d, 2{}, {}%a;", opcode, count, sign), Kind::kPred,
          Kind::kPred,
          [negated](const u64* in, unsigned) { return u64{count_true(in, negated) == kThreads}; });
      Case& any = add_block_case(
          group, fmt::format("{}.red.or.pred %d, 15{}, {}%a;", opcode, count, sign), Kind::kPred,
          Kind::kPred,
          [negated](const u64* in, unsigned) { return u64{count_true(in, negated) != 0}; });
      if (uniform) {
        popc.uniform(0);
        all.uniform(0);
        any.uniform(0);
      }
    }
  }
}

}  // namespace

void add_block(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "block";
  Group& barriers = family.group("barriers");
  for (const std::string_view barrier :
       {"bar.sync 0;", "bar.sync 3, 128;", "bar.cta.sync 0;", "barrier.sync 1;",
        "barrier.sync.aligned 2;", "barrier.cta.sync.aligned 4, 128;",
        "barrier.cta.sync 15, 128;"}) {
    add_exchange(barriers, barrier);
  }
  // The number of the barrier in a register.
  add_exchange(barriers, "{ .reg .b32 %n; mov.u32 %n, 7; bar.sync %n, 128; }");
  // Twice through the same barrier: its second phase is its own.
  add_block_case(barriers,
                 ".shared .align 4 .b8 words[512];\n  .reg .b32 %p, %q, %r;\n"
                 "  mov.u32 %p, words;\n  mad.lo.u32 %q, %tid_, 4, %p;\n  st.shared.u32 [%q], %a;\n"
                 "  bar.sync 0;\n  xor.b32 %r, %tid_, 0x7f;\n  mad.lo.u32 %r, %r, 4, %p;\n"
                 "  ld.shared.u32 %d, [%r];\n  bar.sync 0;\n  add.u32 %d, %d, 1;\n"
                 "  st.shared.u32 [%q], %d;\n  bar.sync 0;\n  ld.shared.u32 %d, [%r];",
                 Kind::kU32, Kind::kU32,
                 [](const u64* in, unsigned thread) { return (in[thread] + 1) & 0xffffffff; });
  // Two warps arrive and go on; the other two wait for what those wrote before.
  add_block_case(barriers,
                 ".shared .align 4 .b8 words[256];\n  .reg .pred %w;\n  .reg .b32 %p, %q;\n"
                 "  mov.u32 %p, words;\n  setp.ge.u32 %w, %tid_, 64;\n  mov.u32 %d, %a;\n"
                 "  @%w bra CONSUME;\n  mad.lo.u32 %q, %tid_, 4, %p;\n  st.shared.u32 [%q], %a;\n"
                 "  membar.cta;\n  bar.arrive 5, 128;\n  bra JOIN;\nCONSUME:\n  bar.sync 5, 128;\n"
                 "  sub.u32 %q, %tid_, 64;\n  mad.lo.u32 %q, %q, 4, %p;\n"
                 "  ld.shared.u32 %d, [%q];\nJOIN:",
                 Kind::kU32, Kind::kU32,
                 [](const u64* in, unsigned thread) { return in[thread & 63]; });
  // Two barriers at once, each for half of the block.
  add_block_case(barriers,
                 ".shared .align 4 .b8 words[512];\n  .reg .b32 %p, %q, %n;\n"
                 "  mov.u32 %p, words;\n  mad.lo.u32 %q, %tid_, 4, %p;\n  st.shared.u32 [%q], %a;\n"
                 "  shr.u32 %n, %tid_, 6;\n  add.u32 %n, %n, 8;\n  bar.sync %n, 64;\n"
                 "  xor.b32 %q, %tid_, 33;\n  mad.lo.u32 %q, %q, 4, %p;\n  ld.shared.u32 %d, [%q];",
                 Kind::kU32, Kind::kU32,
                 [](const u64* in, unsigned thread) { return in[thread ^ 33]; });
  Group& reductions = family.group("reductions");
  add_reductions(reductions, "bar", "");
  add_reductions(reductions, "bar", ", 128");
  add_reductions(reductions, "barrier", "");
  add_reductions(reductions, "barrier.cta", ", 128");
}

}  // namespace baton::instructions
