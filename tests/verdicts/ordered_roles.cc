// Warps that meet, and what they access.

#include "ordered_kernel.h"

namespace baton::verdicts {

void OrderedKernel::one_role_waits() {
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

void OrderedKernel::roles() {
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

void OrderedKernel::signal(unsigned kind, unsigned at, unsigned named, bool first_signals) {
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

void OrderedKernel::await(unsigned kind, unsigned at, unsigned named) {
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

void OrderedKernel::strides() {
  const std::string k = word(), at = wide(), p = predicate(), again = label(), end = label();
  const std::string_view base = any({"%a", "%b", "%c"}), limit = any({"64", "200", "256", "%ntid"});
  line("mov.u32 {}, {};", k, any({"%i", "%tid", "%cta"}));
  line("{0}: setp.ge.{1}32 {2}, {3}, {4}; @{2} bra {5};", again, any({"s", "u"}), p, k, limit, end);
  line("mul.wide.{}32 {}, {}, 4; add.s64 {}, {}, {};", any({"s", "u"}), at, k, at, base, at);
  if (chance(50)) {
    line("ld.global.u32 {}, [{}+{}];", word(), at, 4 * pick(3));
  } else {
    line("st.global.u32 [{}], {};", at, k);
  }
  line("add.s32 {0}, {0}, {1}; bra {2};\n{3}:", k, any({"64", "100", "%ntid"}), again, end);
}

std::string OrderedKernel::element() {
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

void OrderedKernel::access() {
  const std::string guard = chance(15) ? fmt::format("@{} ", test(Together::kNobody).guard) : "";
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

void OrderedKernel::call() {
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

}  // namespace baton::verdicts
