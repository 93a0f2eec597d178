#include "exchange_kernel.h"

namespace baton::verdicts {
namespace {

// Shared memory: mbarriers from byte 0, eight bytes each; values from 64 on, sixteen each; then the
// data of bulk copies.
constexpr std::uint32_t kSlots = 8, kValues = 64, kData = 256, kCopy = 64;

}  // namespace

ExchangeKernel::ExchangeKernel(std::uint64_t seed, std::uint32_t cluster, std::uint32_t threads)
    : KernelWriter(seed), cluster_(cluster), threads_(threads) {
  line("mad.lo.u32 %i, %cta, %ntid, %tid; shr.u32 %warp, %tid, 5;");
  line("mov.u32 %rank, %cluster_ctarank; xor.b32 %other, %rank, {};", cluster - 1);
  if (chance(25)) wait();
  if (chance(25)) line("griddepcontrol.launch_dependents;");
  if (chance(30)) access();
  line("setp.eq.u32 %first, %tid, 0;");
  for (std::uint32_t k = 0; k < kSlots; ++k) {
    line("@%first mbarrier.init.shared.b64 [shared+{}], 1;", 8 * k);
  }
  // A block of the cluster may be spoken to once it has begun.
  line("fence.mbarrier_init.release.cluster;");
  line("{}", cluster == 1 ? "bar.sync 0;" : "barrier.cluster.arrive; barrier.cluster.wait;");
  const unsigned count = 2 + pick(6);
  for (unsigned k = 0; k < count; ++k) statement();
  if (chance(70)) wait();
  access();
  // Nor may it end before.
  line("barrier.cluster.arrive; barrier.cluster.wait;");
}

void ExchangeKernel::statement() {
  switch (pick(12)) {
    case 0:
      return wait();
    case 1:
      line("@{} griddepcontrol.launch_dependents;", guard());
      return;
    case 2:
      return cluster_barrier();
    case 3:
      line("bar.sync 0;");
      return;
    case 4:
      return pass_value();
    case 5:
      return pass_signal();
    case 6:
    case 7:
      return bulk_load();
    case 8:
    case 9:
      return bulk_store();
    default:
      return access();
  }
}

void ExchangeKernel::wait() {
  if (chance(60)) {
    line("griddepcontrol.wait;");
  } else {
    line("@{} griddepcontrol.wait;", guard());
  }
}

std::string ExchangeKernel::guard() {
  const std::string p = predicate();
  const std::string_view of = any({"%rank", "%tid", "%warp", "%cta", "%n"});
  line("setp.{}.u32 {}, {}, {};", any({"eq", "ne"}), p, of, pick(2));
  return p;
}

void ExchangeKernel::cluster_barrier() {
  line("barrier.cluster.arrive{};", any({"", ".release", ".relaxed"}));
  if (depth_ == 0 && chance(40)) {
    ++depth_;
    access();
    if (chance(30)) wait();
    --depth_;
  }
  line("barrier.cluster.wait{};", any({"", ".acquire"}));
}

std::uint32_t ExchangeKernel::fresh_slot() {
  return slots_++;
}

void ExchangeKernel::pass_value() {
  if (slots_ == kSlots) return access();
  const std::uint32_t at = kValues + 16 * fresh_slot();
  const std::string to = word(), remote = word(), value = word();
  line("mov.u32 {0}, shared; add.u32 {0}, {0}, {1};", to, at);
  line("mapa.shared::cluster.u32 {}, {}, %other;", remote, to);
  const bool is_address = chance(30);
  if (is_address) {
    line("@%first st.shared::cluster.u64 [{}], {};", remote, any({"%a", "%b", "%c"}));
  } else {
    line("@%first st.shared::cluster.u32 [{}], {};", remote, any({"%cta", "%n", "3"}));
  }
  line("barrier.cluster.arrive; barrier.cluster.wait;");
  const std::string from = wide();
  if (is_address) {
    line("ld.shared.u64 {}, [shared+{}];", from, at);
  } else {
    line("ld.shared.u32 {}, [shared+{}];", value, at);
    line("mul.wide.u32 {0}, {1}, 4; add.u64 {0}, {0}, {2};", from, value, any({"%a", "%b", "%e"}));
  }
  if (chance(60)) {
    line("ld.global.u32 {}, [{}];", word(), from);
  } else if (chance(50)) {
    line("@{} griddepcontrol.wait;", guard());
  }
}

void ExchangeKernel::pass_signal() {
  if (slots_ == kSlots) return access();
  const std::uint32_t at = 8 * fresh_slot();
  const std::string to = word(), remote = word(), p = predicate(), again = label();
  line("mov.u32 {0}, shared; add.u32 {0}, {0}, {1};", to, at);
  line("mapa.shared::cluster.u32 {}, {}, %other;", remote, to);
  if (chance(50)) line("@%first griddepcontrol.wait;");
  line("@%first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [{}];", remote);
  line("{0}: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 {1}, [{2}], 0;", again, p,
       to);
  line("@!{} bra {};", p, again);
  if (chance(60)) access();
}

std::string ExchangeKernel::place(std::uint32_t bytes, bool reads) {
  const std::string at = wide(), block = word();
  line("mul.lo.u32 {0}, {1}, {2}; mul.wide.u32 {3}, {0}, 1; add.u64 {3}, {3}, {4};", block,
       any({"%cta", "%rank", "%n"}), bytes, at,
       reads ? any({"%a", "%b", "%c", "%e"}) : any({"%a", "%b", "%c"}));
  return at;
}

void ExchangeKernel::bulk_load() {
  if (slots_ == kSlots) return access();
  const std::uint32_t slot = fresh_slot();
  const std::string from = place(kCopy, true), p = predicate(), again = label(), value = word();
  if (chance(25)) line("@%first griddepcontrol.wait;");
  line("@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [shared+{}], {};", 8 * slot, kCopy);
  line(
      "@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [shared+{}], "
      "[{}], {}, [shared+{}];",
      kData + kCopy * slot, from, kCopy, 8 * slot);
  if (chance(40)) access();
  line("{}: mbarrier.try_wait.parity.shared::cta.b64 {}, [shared+{}], 0;", again, p, 8 * slot);
  line("@!{} bra {};", p, again);
  line("ld.shared.u32 {}, [shared+{}];", value, kData + kCopy * slot);
  if (chance(30)) {
    const std::string at = wide();
    line("and.b32 {0}, {0}, 127; mul.wide.u32 {1}, {0}, 4; add.u64 {1}, {1}, {2};", value, at,
         any({"%a", "%b", "%c"}));
    line("ld.global.u32 {}, [{}];", word(), at);
  }
}

void ExchangeKernel::bulk_store() {
  if (slots_ == kSlots) return access();
  const std::uint32_t data = kData + kCopy * fresh_slot();
  const std::string to = place(kCopy, false);
  const std::string p = predicate(), at = word();
  line("setp.lt.u32 {0}, %tid, {1}; mov.u32 {2}, shared; mad.lo.u32 {2}, %tid, 4, {2};", p,
       kCopy / 4, at);
  line("@{} st.shared.u32 [{}+{}], %i;", p, at, data);
  line("fence.proxy.async.shared::cta; bar.sync 0;");
  if (chance(25)) line("@%first griddepcontrol.wait;");
  if (chance(75)) {
    line("@%first cp.async.bulk.global.shared::cta.bulk_group [{}], [shared+{}], {};", to, data,
         kCopy);
  } else {
    line(
        "@%first cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [{}], [shared+{}], "
        "{};",
        to, data, kCopy);
  }
  line("@%first cp.async.bulk.commit_group;");
  if (chance(40)) access();
  line("@%first cp.async.bulk.wait_group{} 0;", any({"", "", ".read"}));
}

void ExchangeKernel::access() {
  const std::string at = wide(), k = word();
  switch (pick(4)) {
    case 0:
      line("mov.u32 {}, %tid;", k);
      break;
    case 1:
      line("mad.lo.u32 {}, %rank, {}, %tid;", k, threads_);
      break;
    case 2:
      line("add.u32 {}, %i, {};", k, 16 * pick(9));
      break;
    default:
      line("mov.u32 {}, %i;", k);
  }
  const bool reads = chance(60);
  line("mul.wide.u32 {0}, {1}, 4; add.u64 {0}, {0}, {2};", at, k,
       reads ? any({"%a", "%b", "%c", "%e"}) : any({"%a", "%b", "%c"}));
  const std::string guarded = chance(30) ? fmt::format("@{} ", guard()) : "";
  if (reads) {
    line("{}ld.global.u32 {}, [{}];", guarded, word(), at);
  } else if (chance(80)) {
    line("{}st.global.u32 [{}], %tid;", guarded, at);
  } else {
    line("{}red.global.add.u32 [{}], 1;", guarded, at);
  }
}

}  // namespace baton::verdicts
