#include "ordered_chain.h"

#include <algorithm>
#include <string>
#include <vector>

#include "kernel_writer.h"

namespace baton::verdicts {
namespace {

// Which threads surely go the same way: all of the block, those of a warp, or none.
enum class Together { kBlock, kWarp, kNobody };

// p0 to p2 are of x, y and z, p3 is the weight w. Statements pass barrier 0 a number of times that
// is the same on each way through them where warps go different ways.
class OrderedKernel : public KernelWriter {
 public:
  // The simulated GPU takes an atomic operation behind a fence for the release of a flag, of
  // whatever scope the fence is. So a chain has either fences or atomic operations.
  OrderedKernel(std::uint64_t seed, std::uint32_t block, bool has_fences)
      : KernelWriter(seed), block_(block), has_fences_(has_fences) {
    line("shr.u32 %warp, %tid, 5; and.b32 %lane, %tid, 31; mad.lo.u32 %i, %cta, %ntid, %tid;");
    switch (pick(6)) {
      case 0:
        line("griddepcontrol.wait;");
        break;
      case 1:
        trigger();
        break;
      case 2:
        line("griddepcontrol.launch_dependents; griddepcontrol.wait;");
        break;
      case 3:
        one_role_waits();
        break;
      default:
        break;
    }
    statements(Together::kBlock, 0, 0);
  }

 private:
  static constexpr unsigned kMaxDepth = 3;

  void trigger() { line("griddepcontrol.launch_dependents;"); }

  // --- Statements --------------------------------------------------------------------------------

  // `barriers`: how often each thread passes barrier 0. Where the block goes together more are
  // added.
  void statements(Together together, unsigned depth, unsigned barriers) {
    const unsigned count = 1 + pick(depth == 0 ? 6 : 3);
    for (unsigned k = 0; k < count; ++k) {
      const unsigned now = k + 1 == count ? barriers : pick(barriers + 1);
      barriers -= now;
      statement(together, depth, now);
    }
  }

  void statement(Together together, unsigned depth, unsigned barriers) {
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

  void barrier(Together together) {
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
  // Whether a barrier may name the number of its threads.
  bool may_count() const { return !left_ && loops_ == 0 && block_ % 32 == 0; }

  // What all threads of the block meet at, but not at barrier 0.
  void other_barrier() {
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
  unsigned name() { return 1 + names_++ % 15; }

  void fence(Together together) {
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

  // --- Conditions and loops ----------------------------------------------------------------------

  struct Test {
    std::string guard;  // "%p1" or "!%p1"
    Together together = Together::kNobody;
  };

  Test test(Together now) {
    Test made = simple_test(now);
    if (!chance(15)) return made;
    const Test other = simple_test(now);
    const std::string both = predicate();
    // Of predicates without a "not" before them.
    const auto bare = [](const std::string& guard) {
      return guard[0] == '!' ? guard.substr(1) : guard;
    };
    line("{}.pred {}, {}, {};", any({"and", "or", "xor"}), both, bare(made.guard),
         bare(other.guard));
    return {both, std::max(made.together, other.together)};
  }

  Test simple_test(Together now) {
    const std::string p = predicate(), r = word();
    const std::string_view how = any({"eq", "ne", "lt", "ge", "gt", "le"});
    Together together = Together::kBlock;
    switch (pick(16)) {
      case 14:
        line("mov.u32 {}, {}; setp.{}.u32 {}, {}, {};", r,
             any({"%ctaid.y", "%nctaid.x", "%ntid.y"}), how, p, r, pick(3));
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
      case 3:  // what the weight holds is its index
        line("ld.global.u32 {}, [%e+{}]; setp.{}.u32 {}, {}, {};", r, 4 * pick(4), how, p, r,
             pick(4));
        break;
      case 4:
        line("mad.lo.s32 {}, %n, {}, %cta; setp.{}.s32 {}, {}, {};", r, pick(5), how, p, r,
             pick(6));
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

  void condition(Together together, unsigned depth, unsigned barriers) {
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

  void loop(Together together, unsigned depth) {
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

  // for (k = index; k < limit; k += step), or the same by a pointer.
  void strides() {
    const std::string k = word(), at = wide(), p = predicate(), again = label(), end = label();
    const std::string_view base = any({"%a", "%b", "%c"}),
                           limit = any({"64", "200", "256", "%ntid"});
    line("mov.u32 {}, {};", k, any({"%i", "%tid", "%cta"}));
    line("{0}: setp.ge.{1}32 {2}, {3}, {4}; @{2} bra {5};", again, any({"s", "u"}), p, k, limit,
         end);
    line("mul.wide.{}32 {}, {}, 4; add.s64 {}, {}, {};", any({"s", "u"}), at, k, at, base, at);
    if (chance(50)) {
      line("ld.global.u32 {}, [{}+{}];", word(), at, 4 * pick(3));
    } else {
      line("st.global.u32 [{}], {};", at, k);
    }
    line("add.s32 {0}, {0}, {1}; bra {2};\n{3}:", k, any({"64", "100", "%ntid"}), again, end);
  }

  void leave(Together together) {
    line("@{} {};", test(together).guard, any({"ret", "exit"}));
    left_ = true;
  }

  void call() {
    switch (pick(4)) {
      case 0:
        line("call.uni waits, ();");
        return;
      case 1:
        line("{{ .param .b32 q; st.param.b32 [q], {}; call.uni waits_if, (q); }}",
             any({"%n", "%warp", "%lane", "1", "0"}));
        return;
      case 2:
        line("call.uni triggers, ();");
        return;
      default: {
        const std::string at = element(), value = word();
        line("{{ .param .b64 q0; .param .b32 q1; st.param.b64 [q0], {};", at);
        line("call.uni (q1), reads, (q0); ld.param.b32 {}, [q1]; }}", value);
      }
    }
  }

  // --- Roles -------------------------------------------------------------------------------------

  // One warp, or one thread, waits, and the others meet it at barrier 0, or the other way round.
  void one_role_waits() {
    const std::string p = predicate();
    line("setp.{}.u32 {}, {}, 0;", any({"eq", "ne"}), p, any({"%warp", "%tid", "%lane"}));
    if (chance(50)) {
      line("@{} griddepcontrol.wait;", p);
    } else {
      const std::string skip = label();
      line("@{} bra {};\ngriddepcontrol.wait;", p, skip);
      if (chance(50)) access();
      line("{}:", skip);
    }
    if (chance(20)) access();
    if (chance(80)) barrier(Together::kBlock);
  }

  // The first warp, or the others, do something and signal; the rest wait for the signal.
  void roles() {
    const std::string first = predicate(), others = label(), end = label();
    const bool first_signals = chance(60);
    const std::uint32_t signals = first_signals ? 32 : block_ - 32;
    const unsigned kind = pick(5), at = 512 + 16 * (names_ % 16), named = name();
    if (kind >= 2) {
      line("setp.eq.u32 {}, %tid, 0;", first);
      if (kind == 2 || kind == 3) {
        line("@{} mbarrier.init.shared.b64 [shared+{}], {};", first, at, kind == 2 ? signals : 1);
      } else {
        line("@{} st.shared.u32 [shared+{}], 0;", first, at);
      }
      line("bar.sync 0;");
    }
    const auto part = [&](bool signals_here) {
      const bool stays = stays_;
      stays_ = true;
      if (chance(70)) statements(Together::kWarp, kMaxDepth - 1, 0);
      signals_here ? signal(kind, at, named, first_signals) : await(kind, at, named);
      if (chance(70)) statements(Together::kWarp, kMaxDepth - 1, 0);
      stays_ = stays;
    };
    line("setp.ge.u32 {0}, %tid, 32; @{0} bra {1};", first, others);
    part(first_signals);
    line("bra {};\n{}:", end, others);
    part(!first_signals);
    line("{}:", end);
  }

  void signal(unsigned kind, unsigned at, unsigned named, bool first_signals) {
    const std::string p = predicate();
    switch (kind) {
      case 0:
        line("bar.arrive {}, {};", named, block_);
        return;
      case 1:
        line("bar.sync {}, {};", named, block_);
        return;
      case 2:
        line("mbarrier.arrive.shared.b64 {}, [shared+{}];", wide(), at);
        return;
      case 3:  // one thread for all
        line(
            "bar.warp.sync -1; setp.eq.u32 {0}, %tid, {1}; @{0} mbarrier.arrive.shared.b64 "
            "{2}, [shared+{3}];",
            p, first_signals ? 0 : 32, wide(), at);
        return;
      default:
        line(
            "bar.warp.sync -1; setp.eq.u32 {0}, %tid, {1}; @{0} st.release.cta.shared.u32 "
            "[shared+{2}], 1;",
            p, first_signals ? 0 : 32, at);
    }
  }

  void await(unsigned kind, unsigned at, unsigned named) {
    const std::string p = predicate(), again = label(), value = word();
    switch (kind) {
      case 0:
      case 1:
        line("bar.sync {}, {};", named, block_);
        return;
      case 2:
      case 3:
        line("{0}: mbarrier.try_wait.parity.shared.b64 {1}, [shared+{2}], 0; @!{1} bra {0};", again,
             p, at);
        return;
      default:
        line(
            "{0}: ld.acquire.cta.shared.u32 {1}, [shared+{2}]; setp.eq.u32 {3}, {1}, 0; "
            "@{3} bra {0};",
            again, value, at, p);
    }
  }

  // --- Accesses ----------------------------------------------------------------------------------

  // The address of an element of x, y or z.
  std::string element() {
    const std::string at = wide(), k = word();
    switch (pick(13)) {
      case 10:
        line("and.b32 {}, %i, {};", k, any({"31", "63", "7"}));
        break;
      case 11:
        line("rem.u32 {0}, %i, 50; add.u32 {0}, {0}, {1};", k, pick(300));
        break;
      case 12:
        line("min.u32 {}, %i, {};", k, pick(100));
        break;
      case 0:
        line("mov.u32 {}, %tid;", k);
        break;
      case 1:
        line("xor.b32 {}, %i, 1;", k);
        break;
      case 2:
        line("mov.u32 {}, %cta;", k);
        break;
      case 3:
        line("mov.u32 {}, {};", k, pick(70));
        break;
      case 4:
        line("mad.lo.u32 {}, %n, %ntid, %tid;", k);
        break;
      case 5:
        line("mul.wide.u32 {0}, %tid, 4; add.u64 {0}, {0}, %e; ld.global.u32 {1}, [{0}];", at, k);
        break;
      case 6:
        line("add.u32 {}, %i, 512;", k);
        break;
      default:
        line("mov.u32 {}, %i;", k);
    }
    line("mul.wide.u32 {0}, {1}, 4; add.u64 {0}, {0}, {2};", at, k, any({"%a", "%b", "%c"}));
    return at;
  }

  void access() {
    const std::string guard = chance(15) ? "@" + test(Together::kNobody).guard + " " : "";
    const std::string at = chance(10) ? std::string("%e") : element(), value = word();
    const std::string_view space = any({".global", ".global", ""});
    unsigned kind = pick(at == "%e" ? 5 : 17);
    if (has_fences_ && (kind == 6 || kind == 7)) kind = 13;
    switch (kind) {
      case 0:
      case 1:
      case 2:
      case 3:
        line("{}ld{}.u32 {}, [{}];", guard, space, value, at);
        break;
      case 4:
        line("{}ld.global.nc.u32 {}, [{}];", guard, value, at);
        break;
      case 5:
        line("{}ld.{}.global.u32 {}, [{}];", guard, any({"relaxed.gpu", "volatile", "acquire.gpu"}),
             value, at);
        break;
      case 6:
        line("{}atom{}.add.u32 {}, [{}], 1;", guard, space, value, at);
        break;
      case 7:
        line("{}red{}.add.u32 [{}], 1;", guard, space, at);
        break;
      case 8:
        line("and.b64 {0}, {0}, -8; {1}ld{2}.v2.u32 {{{3}, {4}}}, [{0}];", at, guard, space, value,
             word());
        break;
      case 14:
        line("{}cp.async.ca.shared.global [shared], [{}], 4; cp.async.wait_all;", guard, at);
        break;
      case 15:
        line("and.b64 {0}, {0}, -16; {1}st{2}.v4.u32 [{0}], {{1, 2, 3, 4}};", at, guard, space);
        break;
      case 16:
        line(
            "and.b64 {0}, {0}, -16; {1}cp.async.bulk.global.shared::cta.bulk_group [{0}], "
            "[shared+960], 16;",
            at, guard);
        line("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;");
        break;
      default:
        line("{}st{}.u32 [{}], {};", guard, space, at, any({"%tid", "%n", "7"}));
    }
  }

  const std::uint32_t block_;
  const bool has_fences_;
  unsigned loops_ = 0, names_ = 0;
  bool left_ = false;   // threads may have ended
  bool stays_ = false;  // none may end here
};

GeneratedLaunch launch_of(KernelWriter& chooses, std::uint64_t seed, bool has_fences) {
  GeneratedLaunch launch;
  using Extents = std::array<std::uint32_t, 3>;
  static constexpr Extents kBlocks[] = {{32, 1, 1},  {64, 1, 1}, {64, 1, 1}, {96, 1, 1},
                                        {128, 1, 1}, {48, 1, 1}, {32, 2, 1}, {8, 4, 2},
                                        {16, 1, 4},  {33, 1, 2}, {1, 64, 1}};
  static constexpr Extents kGrids[] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}, {2, 1, 1}, {1, 2, 1}};
  launch.block = kBlocks[chooses.pick(std::size(kBlocks))];
  launch.grid = kGrids[chooses.pick(std::size(kGrids))];
  launch.number = chooses.pick(4);
  for (int k = 0; k < 3; ++k) launch.buffers += chooses.any({"x", "y", "z"});
  launch.buffers += 'w';
  for (int k = 0; k < 3; ++k) launch.offsets[k] = chooses.chance(15) ? 32 * chooses.pick(5) : 0;
  if (chooses.chance(35)) {
    launch.declarations = ".reg .b64 %d<9>; .reg .b32 %r<9>;\n";
    launch.body =
        "griddepcontrol.wait; griddepcontrol.launch_dependents;\n"
        "mad.lo.u32 %r1, %cta, %ntid, %tid; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %a, %d1;\n"
        "ld.global.u32 %r2, [%d2]; add.u64 %d3, %b, %d1; st.global.u32 [%d3], %r2;\n";
    return launch;
  }
  const auto threads = launch.block[0] * launch.block[1] * launch.block[2];
  const OrderedKernel kernel(seed, threads, has_fences);
  launch.declarations = ".reg .b32 %warp, %lane, %i; .reg .b64 %at;\n" + kernel.declarations();
  launch.body = kernel.text();
  return launch;
}

}  // namespace

GeneratedChain ordered_chain(std::uint64_t seed) {
  GeneratedChain chain{.seed = seed, .launches = {}};
  KernelWriter chooses(seed);
  const unsigned count = chooses.chance(70) ? 2 : 3;
  for (unsigned k = 0; k < count; ++k) {
    chain.launches.push_back(launch_of(chooses, seed * 4 + k + 1, seed % 2 == 0));
  }
  return chain;
}

}  // namespace baton::verdicts
