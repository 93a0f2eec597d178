#include "pipeline_kernel.h"

namespace baton::verdicts {
namespace {

constexpr std::uint32_t kTurns = 300, kMostStages = 4, kData = 256, kCopy = 64;

}  // namespace

PipelineKernel::PipelineKernel(std::uint64_t seed, std::uint32_t threads)
    : KernelWriter(seed),
      threads_(threads),
      stages_(1 + pick(kMostStages)),
      full_(8 * pick(3)),
      empty_(full_ + 8 * stages_ - (chance(5) ? 8 : 0)),
      by_one_lane_(chance(40)),
      in_steps_(chance(75)) {
  line("mad.lo.u32 %i, %cta, %ntid, %tid; shr.u32 %warp, %tid, 5; and.b32 %lane, %tid, 31;");
  if (chance(60)) line("shfl.sync.idx.b32 %warp, %warp, 0, 31, -1;");
  if (chance(10)) line("griddepcontrol.launch_dependents;");
  init();
  if (chance(4)) access();
  const std::string consumer_label = label(), end = label(), p = predicate();
  if (chance(70)) {
    line("mov.u32 %tiles, {};", 1 + pick(6));
  } else {
    line("mov.u32 %tiles, {};", chance(50) ? "%n" : "2");
  }
  line("mov.u32 %stage, 0; mov.u32 %base, shared;");
  line("setp.ne.u32 {0}, %warp, 0; @{0} bra {1};", p, consumer_label);
  producer();
  line("bra {};\n{}:", end, consumer_label);
  consumer();
  line("{}:", end);
  if (chance(20)) access();
}

void PipelineKernel::init() {
  const std::string first = predicate();
  const std::uint32_t consumers = by_one_lane_ ? threads_ / 32 - 1 : threads_ - 32;
  line("setp.eq.u32 {}, %tid, 0;", first);
  for (std::uint32_t k = 0; k < 2 * kMostStages + 3; ++k) {
    const bool is_empty = 8 * k >= empty_ && 8 * k < empty_ + 8 * stages_;
    line("@{} mbarrier.init.shared.b64 [shared+{}], {};", first, 8 * k, is_empty ? consumers : 1);
  }
  line("fence.mbarrier_init.release.cluster;");
  line("bar.sync 0;");
}

void PipelineKernel::wait(std::uint32_t percent) {
  if (!chance(percent)) return;
  const std::string p = predicate();
  switch (pick(12)) {
    case 0:
      line("setp.eq.u32 {0}, %lane, 0; @{0} griddepcontrol.wait;", p);
      break;
    case 1:
      line("setp.ne.u32 {0}, %n, 0; @{0} griddepcontrol.wait;", p);
      break;
    default:
      line("griddepcontrol.wait;");
  }
}

void PipelineKernel::producer() {
  const std::string end = label(), loop = label(), p = predicate(), at = word(), from = wide(),
                    to = word();
  const bool waits_first = chance(65);
  if (waits_first) wait(100);
  const bool elects = chance(40);
  if (elects) {
    line("elect.sync {0}|{1}, -1; @!{1} bra {2};", word(), p, end);
  } else {
    line("setp.ne.u32 {0}, %lane, 0; @{0} bra {1};", p, end);
  }
  if (!waits_first) wait(40);
  line("mov.u32 %phase, {}; mov.u32 %tile, 0;", chance(90) ? 1 : 0);
  if (chance(30)) line("setp.eq.u32 {0}, %tiles, 0; @{0} bra {1};", p, end);
  line("{}:", loop);
  line("shl.b32 {0}, %stage, 3; add.u32 {0}, %base, {0};", at);
  if (!waits_first) wait(60);
  look(at, empty_, "%phase");
  if (!waits_first) wait(30);
  if (chance(50)) {
    line("and.b64 {0}, {1}, -16; shl.b32 {2}, %stage, 6; add.u32 {2}, {2}, %base;", from,
         any({"%a", "%b", "%c", "%e"}), to);
    line("mbarrier.arrive.expect_tx.shared::cta.b64 _, [{}+{}], {};", at, full_, kCopy);
    line(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [{}+{}], [{}], {}, "
        "[{}+{}];",
        to, kData, from, kCopy, at, full_);
  } else {
    if (chance(60)) access();
    arrive(at, full_);
  }
  step();
  line("setp.lt.u32 {0}, %tile, %tiles; @{0} bra {1};", p, loop);
  line("{}:", end);
  if (!waits_first) wait(30);
  if (chance(20)) access();
}

void PipelineKernel::consumer() {
  const std::string end = label(), loop = label(), p = predicate(), at = word();
  if (chance(6)) wait(100);
  if (chance(6)) access();
  line("mov.u32 %phase, {}; mov.u32 %tile, 0;", chance(90) ? 0 : 1);
  if (chance(10)) arrive("%base", 8 * pick(8));
  if (chance(30)) line("setp.eq.u32 {0}, %tiles, 0; @{0} bra {1};", p, end);
  line("{}:", loop);
  line("shl.b32 {0}, %stage, 3; add.u32 {0}, %base, {0};", at);
  if (chance(5)) access();
  look(at, chance(95) ? full_ : empty_, chance(95) ? "%phase" : "1");
  if (chance(60)) access();
  const std::string skip = label();
  if (by_one_lane_) {
    line("bar.warp.sync -1; setp.ne.u32 {0}, %lane, 0; @{0} bra {1};", p, skip);
  }
  arrive(at, chance(95) ? empty_ : full_);
  line("{}:", skip);
  step();
  line("setp.lt.u32 {0}, %tile, %tiles; @{0} bra {1};", p, loop);
  line("{}:", end);
  if (chance(70)) access();
}

void PipelineKernel::step() {
  const std::string next = word(), p = predicate(), flips = word();
  line("add.u32 %tile, %tile, 1; add.u32 {}, %stage, 1;", next);
  if (in_steps_) {
    line("setp.eq.u32 {}, {}, {};", p, next, stages_);
    line("selp.u32 %stage, 0, {1}, {0}; selp.u32 {2}, 1, 0, {0};", p, next, flips);
    line("xor.b32 %phase, %phase, {};", flips);
  } else {
    const std::string on = label();
    line("setp.ne.u32 {0}, {1}, {2}; mov.u32 %stage, {1}; @{0} bra {3};", p, next, stages_, on);
    line("mov.u32 %stage, 0; xor.b32 %phase, %phase, 1;\n{}:", on);
  }
}

void PipelineKernel::look(const std::string& at, std::int64_t offset, const std::string& parity) {
  const std::string p = predicate(), q = predicate(), turns = word(), again = label(),
                    done = label(), token = word();
  if (chance(40)) {
    line("mbarrier.test_wait.parity.shared::cta.b64 {}, [{}+{}], {}; selp.b32 {}, 1, 0, {};", p, at,
         offset, parity, token, p);
    if (chance(10)) access();
    line("setp.ne.s32 {0}, {1}, 0; @{0} bra {2};", p, token, done);
  }
  line("mov.u32 {}, 0;\n{}:", turns, again);
  line("mbarrier.test_wait.parity.shared::cta.b64 {}, [{}+{}], {}; @{} bra {};", p, at, offset,
       parity, p, done);
  line("add.u32 {0}, {0}, 1; setp.lt.u32 {1}, {0}, {2}; @{1} bra {3};", turns, q, kTurns, again);
  if (chance(96)) line("exit;");
  line("{}:", done);
}

void PipelineKernel::arrive(const std::string& at, std::int64_t offset) {
  if (chance(30)) {
    const std::string remote = word();
    line("add.u32 {0}, {1}, {2}; mapa.shared::cluster.u32 {0}, {0}, 0;", remote, at, offset);
    line("mbarrier.arrive{}.shared::cluster.b64 _, [{}];", chance(30) ? ".release.cluster" : "",
         remote);
  } else {
    line("mbarrier.arrive.shared::cta.b64 _, [{}+{}];", at, offset);
  }
}

void PipelineKernel::access() {
  const std::string at = wide(), k = word();
  line("{}", chance(50) ? fmt::format("mov.u32 {}, %i;", k)
                        : fmt::format("xor.b32 {}, %i, {};", k, pick(64)));
  const bool reads = chance(50);
  line("mul.wide.u32 {0}, {1}, 4; add.u64 {0}, {0}, {2};", at, k,
       reads ? any({"%a", "%b", "%c", "%e"}) : any({"%a", "%b", "%c"}));
  if (reads) {
    line("ld.global.u32 {}, [{}];", word(), at);
  } else {
    line("st.global.u32 [{}], %tid;", at);
  }
}

}  // namespace baton::verdicts
