#include "signal_kernel.h"

#include <algorithm>

namespace baton::verdicts {
namespace {

// Shared memory: mbarriers from byte 0, eight bytes each; then the data of bulk copies.
constexpr std::uint32_t kSlots = 6, kData = 256, kCopy = 64;
constexpr std::uint32_t kTurns = 400;

}  // namespace

SignalKernel::SignalKernel(std::uint64_t seed, std::uint32_t cluster, std::uint32_t threads)
    : KernelWriter(seed),
      cluster_(cluster),
      threads_(threads),
      warps_((threads + 31) / 32),
      has_names_(chance(45)),
      counts_(kSlots) {
  line("mad.lo.u32 %i, %cta, %ntid, %tid; shr.u32 %warp, %tid, 5; and.b32 %lane, %tid, 31;");
  line("mov.u32 %rank, %cluster_ctarank; xor.b32 %other, %rank, {};", cluster - 1);
  if (chance(10)) line("griddepcontrol.launch_dependents;");
  plan();
  init();
  if (chance(8)) wait();
  if (chance(8)) access();
  std::vector<std::string> labels;
  const std::string end = label(), p = predicate();
  for (std::uint32_t w = 0; w < warps_; ++w) labels.push_back(label());
  const bool shuffles = chance(15) && threads_ % 32 == 0;
  if (shuffles) line("shfl.sync.idx.b32 %warp, %warp, 0, 31, -1;");
  for (std::uint32_t w = 1; w < warps_; ++w) {
    line("setp.eq.u32 {0}, %warp, {1}; @{0} bra {2};", p, w, labels[w]);
  }
  for (std::uint32_t w = 0; w < warps_; ++w) {
    line("{}:", labels[w]);
    role(w);
    line("bra {};", end);
  }
  line("{}:", end);
  if (chance(15)) line("bar.sync 0;");
  if (chance(40)) access();
  // No block of a cluster may end while another speaks to it.
  if (cluster_ > 1) line("barrier.cluster.arrive; barrier.cluster.wait;");
}

void SignalKernel::plan() {
  const std::uint32_t count = 1 + pick(4);
  waiter_ = pick(warps_);
  waits_in_ = chance(75) ? 0 : pick(count + 1);
  std::vector<std::uint32_t> phases(kSlots);
  for (std::uint32_t k = 0; k < count; ++k) {
    Round round;
    const std::uint32_t kind = pick(20);
    round.way = kind < 10                   ? Way::kMbarrier
                : kind < 13                 ? Way::kBulkCopy
                : kind < 18 && has_names_   ? Way::kNamed
                : kind < 19 || cluster_ < 2 ? Way::kBlock
                                            : Way::kCluster;
    round.gives.resize(warps_);
    round.takes.resize(warps_);
    const std::uint32_t giver = k == 0 || chance(50) ? waiter_ : pick(warps_);
    round.gives[giver] = true;
    for (std::uint32_t w = 0; w < warps_; ++w) {
      if (chance(12)) round.gives[w] = true;
      round.takes[w] = w != giver ? chance(85) : chance(20);
    }
    if (round.way == Way::kMbarrier || round.way == Way::kBulkCopy) {
      round.slot = errs(30) ? pick(kSlots) : k;
      if (round.way == Way::kBulkCopy) {
        round.gives.assign(warps_, false);
        round.gives[giver] = true;
      }
      round.one_lane_gives = round.way == Way::kBulkCopy || chance(50);
      round.is_remote = round.way == Way::kMbarrier && cluster_ > 1 && chance(40);
      round.phase = phases[round.slot]++;
      std::uint32_t arrivals = 0;
      for (std::uint32_t w = 0; w < warps_; ++w) {
        const std::uint32_t lanes = std::min(32u, threads_ - 32 * w);
        if (round.gives[w]) arrivals += round.one_lane_gives ? 1 : lanes;
      }
      if (counts_[round.slot] == 0) counts_[round.slot] = arrivals;
    } else {
      round.slot = 1 + names_++ % 15;
    }
    rounds_.push_back(std::move(round));
  }
}

void SignalKernel::init() {
  const std::string first = predicate();
  line("setp.eq.u32 {}, %tid, 0;", first);
  for (std::uint32_t k = 0; k < kSlots; ++k) {
    std::uint32_t count = std::max(counts_[k], 1u);
    if (errs(10)) count = 1 + pick(count);
    line("@{} mbarrier.init.shared.b64 [shared+{}], {};", first, 8 * k, count);
  }
  line("fence.mbarrier_init.release.cluster;");
  line("{}", cluster_ == 1 ? "bar.sync 0;" : "barrier.cluster.arrive; barrier.cluster.wait;");
}

void SignalKernel::role(std::uint32_t warp) {
  for (std::uint32_t k = 0; k < rounds_.size(); ++k) {
    const Round& round = rounds_[k];
    if (warp == waiter_ && waits_in_ == k) wait();
    statement(warp);
    if (round.way == Way::kBlock) {
      line("bar.sync 0;");
      continue;
    }
    if (round.way == Way::kCluster) {
      line("barrier.cluster.arrive; barrier.cluster.wait;");
      continue;
    }
    if (round.way == Way::kNamed) {
      const bool takes = round.takes[warp];
      if (takes || round.gives[warp]) name(round, takes);
    } else {
      if (round.gives[warp]) give(round, warp);
      if (chance(8)) access();
      if (round.takes[warp]) take(round);
    }
    if (chance(30)) access();
  }
  if (warp == waiter_ && waits_in_ >= rounds_.size()) wait();
  if (chance(60)) access();
}

void SignalKernel::statement(std::uint32_t warp) {
  switch (pick(warp == waiter_ ? 12 : 24)) {
    case 0:
      return access();
    case 1:
      line("griddepcontrol.launch_dependents;");
      return;
    case 2:
      if (chance(30)) wait();
      return;
    case 3:
      line("bar.warp.sync -1;");
      return;
    case 4: {  // an arrival that is not counted
      if (!errs(30)) return;
      const Place at = place(pick(kSlots));
      line("@{} mbarrier.arrive{}.b64 _, [{}];", guard(), at.space, at.operand);
      return;
    }
    default:
      return;
  }
}

void SignalKernel::wait() {
  const std::uint32_t way = pick(20);
  if (way == 0) {
    line("@{} griddepcontrol.wait;", guard());
  } else if (way == 1) {
    line("call.uni waits, ();");
  } else if (way == 2) {
    line("{{ .param .b32 q; st.param.b32 [q], {}; call.uni waits_if, (q); }}",
         any({"%n", "1", "%lane"}));
  } else {
    line("griddepcontrol.wait;");
  }
}

std::string SignalKernel::guard() {
  const std::string p = predicate();
  line("setp.{}.u32 {}, {}, {};", any({"eq", "ne"}), p, any({"%n", "%lane", "%cta", "%tid"}),
       pick(2));
  return p;
}

SignalKernel::Place SignalKernel::place(std::uint32_t slot) {
  const std::uint32_t at = 8 * slot;
  const std::string r = word();
  switch (pick(9)) {
    case 0:
      line("mov.u32 {0}, shared; add.u32 {0}, {0}, {1};", r, at);
      return {r, ".shared::cta"};
    case 1:
      line("mov.u32 {}, shared+{};", r, at + 16);
      return {r + "+-16", ".shared"};
    case 2: {
      const std::string index = word();
      line("mov.u32 {0}, {1}; mov.u32 {2}, shared; mad.lo.u32 {2}, {0}, 8, {2};", index, slot, r);
      return {r, ".shared::cta"};
    }
    case 3: {
      const std::string d = wide();
      line("mov.u64 {0}, shared; cvta.shared.u64 {0}, {0};", d);
      return {fmt::format("{}+{}", d, at), ""};
    }
    case 4: {
      const std::string d = wide();
      line("mov.u64 {0}, shared; cvta.shared.u64 {0}, {0}; cvta.to.shared.u64 {0}, {0};", d);
      line("cvt.u32.u64 {0}, {1}; add.s32 {0}, {0}, {2};", r, d, at);
      return {r, ".shared"};
    }
    case 5:  // by the warp, of which each has one
      line("mov.u32 {0}, shared; mad.lo.u32 {0}, %warp, 0, {0}; add.u32 {0}, {0}, {1};", r, at);
      return {r, ".shared"};
    default:
      return {fmt::format("shared+{}", at), chance(50) ? ".shared" : ".shared::cta"};
  }
}

void SignalKernel::give(const Round& round, std::uint32_t warp) {
  std::string done;
  if (round.one_lane_gives) {
    const std::string p = predicate();
    done = label();
    if (chance(70)) line("bar.warp.sync -1;");
    line("setp.ne.u32 {0}, %lane, 0; @{0} bra {1};", p, done);
  } else if (errs(6)) {
    done = label();
    line("@{} bra {};", guard(), done);
  }
  if (warp == waiter_ && chance(4)) wait();
  round.way == Way::kBulkCopy ? copy(round) : arrive(round);
  if (!done.empty()) line("{}:", done);
}

void SignalKernel::arrive(const Round& round) {
  if (round.is_remote) {
    const std::string to = word(), remote = word();
    line("mov.u32 {0}, shared; add.u32 {0}, {0}, {1};", to, 8 * round.slot);
    line("mapa.shared::cluster.u32 {}, {}, %other;", remote, to);
    line("mbarrier.arrive{}.shared::cluster.b64 _, [{}];", chance(90) ? ".release.cluster" : "",
         remote);
    return;
  }
  const Place at = place(errs(5) ? pick(kSlots) : round.slot);
  const std::uint32_t kind = pick(20);
  if (kind == 0) {
    line("mbarrier.arrive.relaxed.cta{}.b64 _, [{}];", at.space, at.operand);
  } else if (kind == 1) {
    line("mbarrier.arrive.expect_tx{}.b64 _, [{}], 0;", at.space, at.operand);
  } else if (kind == 2) {
    line("mbarrier.arrive.release.cta{}.b64 _, [{}], 1;", at.space, at.operand);
  } else {
    line("mbarrier.arrive{}.b64 _, [{}];", at.space, at.operand);
  }
}

void SignalKernel::copy(const Round& round) {
  const std::string from = wide();
  line("and.b64 {}, {}, -16;", from, any({"%a", "%b", "%c", "%e"}));
  line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [shared+{}], {};", 8 * round.slot, kCopy);
  line(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [shared+{}], [{}], {}, "
      "[shared+{}];",
      kData + kCopy * round.slot, from, kCopy, 8 * round.slot);
}

std::string SignalKernel::parity(const Round& round) {
  const std::uint32_t right = round.phase % 2;
  if (chance(70)) return std::to_string(right);
  const std::string r = word();
  switch (has_names_ ? 2 + pick(4) : pick(6)) {
    case 0:
      line("and.b32 {}, %n, 1;", r);
      break;
    case 1:
      line("mov.u32 {}, {};", r, 1 - right);
      break;
    case 2:
      line("mov.u32 {0}, {1}; xor.b32 {0}, {0}, 1;", r, 1 - right);
      break;
    case 3:
      line("mov.u32 {0}, {1}; shr.u32 {0}, {0}, 1; and.b32 {0}, {0}, 1;", r, 2 * round.phase);
      break;
    default:
      line("mov.u32 {}, {};", r, right);
  }
  return r;
}

// In a loop that ends: the thread then leaves, or goes on where it should not.
void SignalKernel::take(const Round& round) {
  const std::string p = predicate(), q = predicate(), turns = word(), again = label(),
                    done = label();
  const std::string look = parity(round);
  const Place at = place(errs(5) ? pick(kSlots) : round.slot);
  const bool is_remote = round.is_remote && at.space == ".shared::cta";
  const std::string how = fmt::format("mbarrier.{}.parity{}{}.b64",
                                      has_names_ ? any({"try_wait", "test_wait"}) : "test_wait",
                                      is_remote && chance(90) ? ".acquire.cluster" : "", at.space);
  const bool has_token = chance(20);
  line("mov.u32 {}, 0;", turns);
  if (has_token) {
    const std::string token = word();
    line("{} {}, [{}], {}; selp.u32 {}, 1, 0, {};", how, p, at.operand, look, token, p);
    if (chance(30)) access();
    line("setp.{0}.u32 {1}, {2}, 0; @{1} bra {3};", chance(95) ? "ne" : "eq", p, token, done);
  }
  line("{}: {} {}, [{}], {};", again, how, p, at.operand, look);
  line("@{} bra {};", p, done);
  if (has_names_) {
    line("bra {};", again);
  } else {
    line("add.u32 {0}, {0}, 1; setp.lt.u32 {1}, {0}, {2}; @{1} bra {3};", turns, q, kTurns, again);
    if (chance(95)) line("exit;");
  }
  line("{}:", done);
}

void SignalKernel::name(const Round& round, bool waits) {
  std::uint32_t members = 0;
  for (std::uint32_t w = 0; w < warps_; ++w) {
    members += round.gives[w] || round.takes[w] ? 1 : 0;
  }
  std::string id = std::to_string(round.slot), count = std::to_string(32 * members);
  if (chance(25)) {
    id = word();
    line("mov.u32 {}, {};", id, round.slot);
  }
  if (chance(25)) {
    count = word();
    line("mov.u32 {}, {};", count, 32 * members);
  }
  if (!waits) {
    line("{} {}, {};", any({"bar.arrive", "barrier.cta.arrive.aligned"}), id, count);
  } else {
    line("{} {}, {};",
         any({"bar.sync", "bar.sync", "barrier.cta.sync.aligned", "barrier.cta.sync"}), id, count);
  }
}

void SignalKernel::access() {
  const std::string at = wide(), k = word();
  switch (pick(4)) {
    case 0:
      line("mov.u32 {}, %tid;", k);
      break;
    case 1:
      line("xor.b32 {}, %i, {};", k, pick(40));
      break;
    case 2:
      line("add.u32 {}, %i, {};", k, 16 * pick(9));
      break;
    default:
      line("mov.u32 {}, %i;", k);
  }
  const bool reads = chance(50);
  line("mul.wide.u32 {0}, {1}, 4; add.u64 {0}, {0}, {2};", at, k,
       reads ? any({"%a", "%b", "%c", "%e"}) : any({"%a", "%b", "%c"}));
  const std::string guarded = chance(20) ? fmt::format("@{} ", guard()) : "";
  if (reads) {
    line("{}ld.global.u32 {}, [{}];", guarded, word(), at);
  } else {
    line("{}st.global.u32 [{}], %tid;", guarded, at);
  }
}

}  // namespace baton::verdicts
