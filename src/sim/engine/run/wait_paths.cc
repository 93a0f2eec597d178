#include "sim/engine/run/wait_paths.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/engine/run/control.h"
#include "sim/engine/run/warp_ops.h"

namespace baton::sim {
namespace {

class WaitSearch {
 public:
  explicit WaitSearch(const DecodedKernel& kernel) : kernel_(kernel) {}

  bool find_wait(const DecodedFunction& from, const Insn& insn) {
    open(from, static_cast<std::size_t>(&insn - from.code.data()) + 1);
    while (!open_.empty()) {
      const auto [function, at] = open_.back();
      open_.pop_back();
      if (function->code[at].fn == op_grid_wait) return true;
      follow(*function, at);
    }
    return false;
  }

 private:
  void open(const DecodedFunction& function, std::size_t at) {
    std::vector<bool>& seen = seen_[&function];
    seen.resize(function.code.size());
    if (at >= seen.size() || seen[at]) return;
    seen[at] = true;
    open_.emplace_back(&function, at);
  }

  void follow(const DecodedFunction& function, std::size_t at) {
    const Insn& insn = function.code[at];
    if (insn.fn == op_exit || insn.fn == op_trap) return;
    if (insn.fn == op_ret) return follow_return(function);
    const auto open_target = [&](const Insn* target) {
      open(function, static_cast<std::size_t>(target - function.code.data()));
    };
    if (insn.fn == op_brx) {
      for (const Insn* target : *static_cast<const std::vector<const Insn*>*>(insn.u.data)) {
        open_target(target);
      }
      return;
    }
    if (insn.fn == op_call) {
      const DecodedFunction* callee = static_cast<const CallSite*>(insn.u.data)->callee;
      for (const auto& other : kernel_.functions) {
        if (callee == nullptr || callee == other.get()) open(*other, 0);
      }
    }
    const bool branches = insn.fn == op_bra || insn.fn == op_bra_back || insn.fn == op_bra_if;
    if (branches) open_target(insn.u.target);
    if (insn.fn != op_bra && insn.fn != op_bra_back) open(function, at + 1);
  }

  // Behind each call that may be one of this function.
  void follow_return(const DecodedFunction& function) {
    if (&function == kernel_.entry) return;
    for (const auto& caller : kernel_.functions) {
      for (std::size_t k = 0; k < caller->code.size(); ++k) {
        if (caller->code[k].fn != op_call) continue;
        const DecodedFunction* callee =
            static_cast<const CallSite*>(caller->code[k].u.data)->callee;
        if (callee == nullptr || callee == &function) open(*caller, k + 1);
      }
    }
  }

  const DecodedKernel& kernel_;
  std::unordered_map<const DecodedFunction*, std::vector<bool>> seen_;
  std::vector<std::pair<const DecodedFunction*, std::size_t>> open_;
};

}  // namespace

bool may_wait_after(const DecodedKernel& kernel, const DecodedFunction& function,
                    const Insn& insn) {
  return WaitSearch(kernel).find_wait(function, insn);
}

}  // namespace baton::sim
