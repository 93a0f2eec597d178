// Statements, conditions and loops.

#include "ordered_kernel.h"

#include <algorithm>

namespace baton::verdicts {

void OrderedKernel::statements(Together together, unsigned depth, unsigned barriers) {
  const unsigned count = 1 + pick(depth == 0 ? 6 : 3);
  for (unsigned k = 0; k < count; ++k) {
    const unsigned now = k + 1 == count ? barriers : pick(barriers + 1);
    barriers -= now;
    statement(together, depth, now);
  }
}

void OrderedKernel::statement(Together together, unsigned depth, unsigned barriers) {
  const bool is_block = together == Together::kBlock;
  if (is_block && chance(12)) ++barriers;
  if (depth < kMaxDepth && chance(22)) return condition(together, depth, barriers);
  for (unsigned k = 0; k < barriers; ++k) barrier(together);
  switch (pick(20)) {
    case 0:
    case 1:
      line("griddepcontrol.wait;");
      return;
    case 2:
      line("@{} griddepcontrol.wait;", test(together).guard);
      return;
    case 3:
      trigger();
      return;
    case 4:
      line("@{} griddepcontrol.launch_dependents;", test(together).guard);
      return;
    case 5:
      if (depth < kMaxDepth) return loop(together, depth);
      return access();
    case 12:
      return strides();
    case 6:
      if (!stays_) leave(together);
      return;
    case 7:
      return call();
    case 8:
    case 9:
      if (is_block && depth < 2 && may_count() && block_ >= 64) return roles();
      return access();
    case 10:
      return fence(together);
    case 11:
      if (is_block && may_count()) return other_barrier();
      return access();
    default:
      access();
  }
}

void OrderedKernel::barrier(Together together) {
  const std::string p = predicate();
  const bool counts = together == Together::kBlock && may_count();
  switch (pick(counts ? 9 : 8)) {
    case 6:
      line("barrier.sync 0;");
      break;
    case 7: {
      const std::string count = word();
      line("setp.lt.u32 {0}, %tid, 7; bar.red.popc.u32 {1}, 0, {0};", p, count);
      break;
    }
    case 8:
      line("bar.sync 0, {};", block_);
      break;
    default:
      line("bar.sync 0;");
  }
}

void OrderedKernel::other_barrier() {
  switch (pick(3)) {
    case 0:
      line("bar.sync {};", name());
      break;
    case 1:
      line("bar.sync {}, {};", name(), block_);
      break;
    default:
      line("barrier.cluster.arrive; barrier.cluster.wait;");
  }
}

void OrderedKernel::fence(Together together) {
  switch (has_fences_ ? pick(4) : 3) {
    case 0:
      line("membar.gl;");
      break;
    case 1:
      line("fence.acq_rel.gpu;");
      break;
    case 2:
      line("membar.cta;");
      break;
    default:
      if (together != Together::kNobody && !left_) line("bar.warp.sync -1;");
  }
}

OrderedKernel::Test OrderedKernel::test(Together now) {
  Test made = simple_test(now);
  if (!chance(15)) return made;
  const Test other = simple_test(now);
  const std::string both = predicate();
  // Of predicates without a "not" before them.
  const auto bare = [](const std::string& guard) {
    return guard[0] == '!' ? guard.substr(1) : guard;
  };
  line("{}.pred {}, {}, {};", any({"and", "or", "xor"}), both, bare(made.guard), bare(other.guard));
  return {both, std::max(made.together, other.together)};
}

OrderedKernel::Test OrderedKernel::simple_test(Together now) {
  const std::string p = predicate(), r = word();
  const std::string_view how = any({"eq", "ne", "lt", "ge", "gt", "le"});
  Together together = Together::kBlock;
  switch (pick(16)) {
    case 14:
      line("mov.u32 {}, {}; setp.{}.u32 {}, {}, {};", r, any({"%ctaid.y", "%nctaid.x", "%ntid.y"}),
           how, p, r, pick(3));
      break;
    case 15:
      line("mov.u32 {}, {}; setp.{}.u32 {}, {}, {};", r, any({"%tid.x", "%tid.y", "%tid.z"}), how,
           p, r, pick(3));
      together = Together::kNobody;
      break;
    case 0:
    case 1:
      line("setp.{}.u32 {}, %n, {};", how, p, pick(4));
      break;
    case 2:
      line("setp.{}.s32 {}, %cta, {};", how, p, pick(3));
      break;
    case 3:  // an index that was loaded from the weight
      line("ld.global.u32 {}, [%e+{}]; setp.{}.u32 {}, {}, {};", r, 4 * pick(4), how, p, r,
           pick(4));
      break;
    case 4:
      line("mad.lo.s32 {}, %n, {}, %cta; setp.{}.s32 {}, {}, {};", r, pick(5), how, p, r, pick(6));
      break;
    case 5:
    case 6:
      line("setp.{}.u32 {}, %warp, {};", how, p, pick(3));
      together = Together::kWarp;
      break;
    case 7:
      if (now == Together::kNobody || left_) {
        line("setp.{}.u32 {}, %warp, %n;", how, p);
      } else {
        line("shfl.sync.idx.b32 {}, %warp, 0, 31, -1; setp.{}.u32 {}, {}, 1;", r, how, p, r);
      }
      together = Together::kWarp;
      break;
    case 8:
      line("and.b32 {}, %warp, 1; setp.{}.u32 {}, {}, {};", r, how, p, r, pick(2));
      together = Together::kWarp;
      break;
    case 9:
      line("setp.{}.u32 {}, %lane, {};", how, p, pick(3));
      together = Together::kNobody;
      break;
    case 10:
      line("setp.{}.u32 {}, %tid, {};", how, p, any({"0", "1", "31", "32", "33", "63"}));
      together = Together::kNobody;
      break;
    case 11:
      line("setp.{}.s32 {}, %i, {};", how, p, any({"0", "16", "64", "200", "-1"}));
      together = Together::kNobody;
      break;
    case 12:
      line("mul.wide.u32 %at, %tid, 4; add.u64 %at, %at, %e; ld.global.u32 {}, [%at];", r);
      line("setp.{}.u32 {}, {}, {};", how, p, r, pick(40));
      together = Together::kNobody;
      break;
    default:
      line("rem.u32 {}, %i, {}; setp.{}.u32 {}, {}, {};", r, 2 + pick(3), how, p, r, pick(3));
      together = Together::kNobody;
  }
  return {(chance(30) ? "!" : "") + p, together};
}

void OrderedKernel::condition(Together together, unsigned depth, unsigned barriers) {
  Test decides = test(together);
  const Together inside = std::max(together, decides.together);
  if (inside == Together::kNobody) {
    for (unsigned k = 0; k < barriers; ++k) barrier(together);
    barriers = 0;
  }
  const auto branch = [&] {
    const bool is_free = inside == Together::kBlock;
    statements(inside, depth + 1, is_free ? pick(2) : barriers);
  };
  const std::string otherwise = label(), end = label();
  line("@{} bra {};", decides.guard, otherwise);
  branch();
  const bool has_other = chance(60) || (barriers != 0 && inside != Together::kBlock);
  if (has_other) line("bra {};", end);
  line("{}:", otherwise);
  if (has_other) branch();
  line("{}:", end);
}

void OrderedKernel::loop(Together together, unsigned depth) {
  const std::string k = word(), most = word(), p = predicate(), begin = label(), end = label();
  Together inside = together;
  switch (pick(4)) {
    case 0:
      line("mov.u32 {}, {};", most, pick(4));
      break;
    case 1:
      line("mov.u32 {}, %n;", most);
      break;
    case 2:
      line("and.b32 {}, %warp, 3;", most);
      inside = std::max(inside, Together::kWarp);
      break;
    default:
      line("and.b32 {}, %i, 1;", most);
      inside = Together::kNobody;
  }
  const bool tests_first = chance(60);
  line("mov.u32 {}, 0;\n{}:", k, begin);
  if (tests_first) line("setp.ge.u32 {0}, {1}, {2}; @{0} bra {3};", p, k, most, end);
  ++loops_;
  // Warps that turn a different number of times meet nowhere.
  statements(inside == Together::kWarp ? Together::kNobody : inside, depth + 1, 0);
  --loops_;
  line("add.u32 {0}, {0}, 1;", k);
  if (tests_first) {
    line("bra {};\n{}:", begin, end);
  } else {
    line("setp.lt.u32 {0}, {1}, {2}; @{0} bra {3};\n{4}:", p, k, most, begin, end);
  }
}

void OrderedKernel::leave(Together together) {
  line("@{} {};", test(together).guard, any({"ret", "exit"}));
  left_ = true;
}

}  // namespace baton::verdicts
