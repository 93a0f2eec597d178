#include "sim/engine/async/wgmma_registers.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sim/engine/report/findings.h"
#include "sim/engine/run/warp.h"

namespace baton::sim {
namespace {

constexpr std::size_t kMostWritten = 4096;

void tell(Exec* x, const Insn* i, const std::string& message) {
  report(x, i, std::countr_zero(x->mask), driver::FindingKind::kAsyncRace, message);
}

void check_busy(Exec* x, const Insn* i, WgmmaWarp& warp, const RegisterTouch& use) {
  const FunctionRegister reg{function_of(x), use.number};
  const auto busy = std::find_if(warp.busy.begin(), warp.busy.end(),
                                 [&](const WgmmaWarp::Busy& one) { return one.reg == reg; });
  if (busy == warp.busy.end() || (!use.writes && !busy->is_accumulator)) return;
  tell(x, i,
       fmt::format("{} register {}, which wgmma at {} {}: no wgmma.wait_group waits for that "
                   "operation before",
                   use.writes ? "writes" : "reads", use.name, where_of(*x->grid, busy->insn),
                   busy->is_accumulator ? "adds to" : "reads"));
  if (use.writes) warp.busy.erase(busy);
}

// A copy of a register stands for it: compilers keep an accumulator so in another register.
void copy(Exec* x, WgmmaWarp& warp, const RegisterTouch& use) {
  const FunctionRegister to{function_of(x), use.number};
  const FunctionRegister from{to.function, use.from};
  std::erase_if(warp.busy, [&](const WgmmaWarp::Busy& one) { return one.reg == to; });
  std::erase_if(warp.written, [&](const WgmmaWarp::Written& one) { return one.reg == to; });
  for (std::size_t k = 0, count = warp.busy.size(); k < count; ++k) {
    if (warp.busy[k].reg != from) continue;
    WgmmaWarp::Busy copied = warp.busy[k];
    copied.reg = to;
    warp.busy.push_back(copied);
  }
  for (std::size_t k = 0, count = warp.written.size(); k < count; ++k) {
    if (warp.written[k].reg == from) warp.written.push_back({to, warp.written[k].insn});
  }
}

}  // namespace

WgmmaWarp& wgmma_warp(Exec* x) {
  WgmmaState& state = x->block->async.wgmma;
  if (state.warps.empty()) {
    state.warps.resize(x->block->warps.size());
    state.groups.resize((x->block->warps.size() + kWarpsOfGroup - 1) / kWarpsOfGroup);
  }
  return state.warps[x->warp->index];
}

const Insn* op_use_registers(Exec* x, const Insn* i) {
  WgmmaWarp& warp = wgmma_warp(x);
  for (const RegisterTouch& use : *static_cast<const std::vector<RegisterTouch>*>(i->u.data)) {
    if (use.copies) {
      copy(x, warp, use);
      continue;
    }
    if (!warp.busy.empty()) check_busy(x, i, warp, use);
    if (use.writes && use.lacks_fence && warp.written.size() < kMostWritten) {
      warp.written.push_back({{function_of(x), use.number}, i});
    }
  }
  return i + 1;
}

void check_fenced(Exec* x, const Insn* i, const WgmmaRegisters& registers) {
  WgmmaWarp& warp = wgmma_warp(x);
  for (std::size_t k = 0; k < registers.numbers.size() && !warp.written.empty(); ++k) {
    const FunctionRegister reg{function_of(x), registers.numbers[k]};
    const auto written =
        std::find_if(warp.written.begin(), warp.written.end(),
                     [&](const WgmmaWarp::Written& one) { return one.reg == reg; });
    if (written == warp.written.end()) continue;
    tell(x, i,
         fmt::format("{} register {}, which {} wrote, with no wgmma.fence between the two",
                     k < registers.accumulators ? "adds to" : "reads a matrix in",
                     registers.names[k], where_of(*x->grid, written->insn)));
    warp.written.clear();
  }
}

void keep_busy(Exec* x, const Insn* i, const WgmmaRegisters& registers) {
  WgmmaWarp& warp = wgmma_warp(x);
  for (std::size_t k = 0; k < registers.numbers.size(); ++k) {
    const FunctionRegister reg{function_of(x), registers.numbers[k]};
    const bool is_accumulator = k < registers.accumulators;
    const auto known = std::find_if(warp.busy.begin(), warp.busy.end(), [&](const auto& one) {
      return one.reg == reg && one.is_accumulator == is_accumulator;
    });
    if (known != warp.busy.end()) {
      known->insn = i;
      known->group = warp.committed;
    } else {
      warp.busy.push_back({reg, i, warp.committed, is_accumulator});
    }
  }
}

}  // namespace baton::sim
