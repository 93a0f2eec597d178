#include "flag_kernel.h"

#include <algorithm>

namespace baton::verdicts {
namespace {

constexpr std::uint32_t kTurns = 400;

}  // namespace

FlagKernel::FlagKernel(std::uint64_t seed, std::uint32_t threads)
    : KernelWriter(seed), threads_(threads), warps_((threads + 31) / 32) {
  line("mad.lo.u32 %i, %cta, %ntid, %tid; shr.u32 %warp, %tid, 5; and.b32 %lane, %tid, 31;");
  if (chance(10)) line("griddepcontrol.launch_dependents;");
  plan();
  if (chance(6)) access();
  begin();
  std::vector<std::string> labels;
  const std::string end = label(), p = predicate();
  for (std::uint32_t w = 0; w < warps_; ++w) labels.push_back(label());
  for (std::uint32_t w = 1; w < warps_; ++w) {
    line("setp.eq.u32 {0}, %warp, {1}; @{0} bra {2};", p, w, labels[w]);
  }
  for (std::uint32_t w = 0; w < warps_; ++w) {
    line("{}:", labels[w]);
    role(w);
    line("bra {};", end);
  }
  line("{}:", end);
  if (chance(40)) access();
}

void FlagKernel::plan() {
  const std::uint32_t count = 1 + pick(3);
  waits_in_ = chance(80) ? 0 : pick(count + 1);
  for (std::uint32_t k = 0; k < count; ++k) {
    Flag flag;
    flag.at = 8 * k + (chance(4) ? 4 : 0);
    if (k > 0 && chance(5)) flag.at = 8 * (k - 1);
    flag.first = chance(80) ? 0 : pick(9);
    flag.set = chance(95) ? flag.first + 1 : flag.first;
    flag.giver = k == 0 || chance(40) ? 0 : pick(warps_);
    flag.takes.resize(warps_);
    for (std::uint32_t w = 0; w < warps_; ++w) flag.takes[w] = w != flag.giver && chance(85);
    flags_.push_back(std::move(flag));
  }
}

// Stores of the first values, and a barrier.
void FlagKernel::begin() {
  const bool comes_late = chance(5);
  if (comes_late) line("bar.sync 0;");
  const std::uint32_t who = pick(20);
  const std::string p = predicate();
  line("setp.eq.u32 {}, {}, {};", p,
       who == 0  ? "%n"
       : who < 4 ? "%lane"
                 : "%tid",
       who == 1 ? 32 * pick(warps_) : 0);
  const std::string guarded = chance(15) ? "" : fmt::format("@{} ", p);
  for (const Flag& flag : flags_) {
    if (chance(4)) continue;
    std::string space;
    const std::string at = place(chance(97) ? flag.at : flag.at + 4, space);
    const std::string value = word();
    line("mov.u32 {}, {};", value, chance(95) ? flag.first : flag.set);
    line("{}st{}{}.u32 [{}], {};", guarded, chance(20) ? ".volatile" : "", space, at, value);
  }
  if (!comes_late && chance(96)) line("{};", chance(90) ? "bar.sync 0" : "barrier.cta.sync 0");
}

void FlagKernel::role(std::uint32_t warp) {
  for (std::uint32_t k = 0; k < flags_.size(); ++k) {
    const Flag& flag = flags_[k];
    if (warp == 0 && waits_in_ == k) {
      if (chance(96)) line("griddepcontrol.wait;");
    }
    if (chance(10)) access();
    if (flag.takes[warp]) poll(flag);
    if (chance(40)) access();
    if (flag.giver == warp || chance(2)) set(flag);
    // Another store of the first value, which may come at any time.
    if (chance(3)) line("st.volatile.shared.u32 [shared+{}], {};", flag.at, flag.first);
  }
  if (warp == 0 && waits_in_ >= flags_.size()) line("griddepcontrol.wait;");
  if (chance(60)) access();
}

std::string FlagKernel::place(std::uint32_t at, std::string& space) {
  space = ".shared";
  switch (pick(6)) {
    case 0: {
      const std::string r = word();
      line("mov.u32 {0}, shared; add.u32 {0}, {0}, {1};", r, at);
      return r;
    }
    case 1: {
      const std::string d = wide();
      line("mov.u64 {0}, shared; cvta.shared.u64 {0}, {0};", d);
      space = "";
      return fmt::format("{}+{}", d, at);
    }
    case 2: {
      const std::string r = word();
      line("mov.u32 {0}, shared; mad.lo.u32 {0}, %warp, 0, {0};", r);
      return fmt::format("{}+{}", r, at);
    }
    default:
      return fmt::format("shared+{}", at);
  }
}

void FlagKernel::set(const Flag& flag) {
  const std::string done = label(), p = predicate(), value = word();
  if (chance(70)) line("bar.warp.sync -1;");
  line("setp.ne.u32 {0}, %lane, 0; @{0} bra {1};", p, done);
  std::string space;
  const std::string at = place(chance(97) ? flag.at : 8 * pick(3), space);
  line("mov.u32 {}, {};", value, flag.set);
  const std::string_view fence =
      any({"membar.cta;", "fence.acq_rel.cta;", "membar.gl;", "fence.sc.cta;"});
  switch (pick(16)) {
    case 0:
      line("st{}.u32 [{}], {};", space, at, value);
      break;
    case 1:
      line("st.volatile{}.u32 [{}], {};", space, at, value);
      break;
    case 2:
    case 3:
    case 4:
      line("{} st.volatile{}.u32 [{}], {};", fence, space, at, value);
      break;
    case 5:
      line("{} st.relaxed.cta{}.u32 [{}], {};", fence, space, at, value);
      break;
    case 6:
      line("atom.release.cta{}.exch.b32 {}, [{}], {};", space, word(), at, value);
      break;
    case 7:
      line("{} atom{}.exch.b32 {}, [{}], {};", fence, space, word(), at, value);
      break;
    case 8:
      line("red.release.cta{}.add.u32 [{}], {};", space, at, value);
      break;
    default:
      line("st.release.{}{}.u32 [{}], {};", any({"cta", "gpu"}), space, at, value);
  }
  line("{}:", done);
}

// In a loop that ends: the thread then leaves, or goes on where it should not.
void FlagKernel::poll(const Flag& flag) {
  const std::string p = predicate(), q = predicate(), turns = word(), again = label(),
                    done = label(), seen = word();
  std::string space;
  const std::string at = place(chance(97) ? flag.at : 8 * pick(3), space);
  const std::uint32_t how = pick(16);
  const bool acquires = how < 8;
  line("mov.u32 {}, 0;", turns);
  line("{}:", again);
  if (acquires) {
    line("ld.acquire.{}{}.u32 {}, [{}];", any({"cta", "gpu"}), space, seen, at);
  } else {
    line("ld{}{}.u32 {}, [{}];", how == 8 ? "" : any({".volatile", ".relaxed.cta"}), space, seen,
         at);
  }
  switch (pick(5)) {
    case 0:
      line("setp.eq.u32 {}, {}, {};", p, seen, flag.set);
      break;
    case 1:
      line("setp.gt.u32 {}, {}, {};", p, seen, flag.first);
      break;
    default:
      line("setp.ne.u32 {}, {}, {};", p, seen, chance(96) ? flag.first : flag.first + 2);
  }
  line("@{} bra {};", p, done);
  line("add.u32 {0}, {0}, 1; setp.lt.u32 {1}, {0}, {2}; @{1} bra {3};", turns, q, kTurns, again);
  if (chance(95)) line("exit;");
  line("{}:", done);
  if (!acquires && chance(5)) access();
  if (!acquires && chance(92)) line("{}", any({"membar.cta;", "fence.acq_rel.cta;"}));
}

void FlagKernel::access() {
  const std::string at = wide(), k = word();
  if (chance(50)) {
    line("mov.u32 {}, %i;", k);
  } else {
    line("xor.b32 {}, %i, {};", k, pick(40));
  }
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
