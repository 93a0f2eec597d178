#include "sim/engine/run/wait_paths.h"

#include <algorithm>
#include <span>
#include <vector>

#include "ptx/traversal.h"
#include "sim/engine/run/control.h"
#include "sim/engine/run/warp_ops.h"

namespace baton::sim {
namespace {

// The instructions of all functions of a kernel, numbered one function after the other.
class WaitSearch {
 public:
  explicit WaitSearch(const DecodedKernel& kernel) : kernel_(kernel) {
    for (const auto& function : kernel.functions) {
      first_.push_back(count_);
      count_ += static_cast<std::uint32_t>(function->code.size());
    }
  }

  bool find_wait(const DecodedFunction& from, const Insn& insn) const {
    const std::uint32_t index = index_of(from);
    const std::uint32_t begin = number_of(index, insn) + 1;
    if (begin == first_[index] + from.code.size()) return false;
    bool found = false;
    ptx::reachable(count_, std::span(&begin, 1), [&](std::uint32_t number, const auto& go) {
      if (found) return;
      const auto behind = std::upper_bound(first_.begin(), first_.end(), number);
      const auto function = static_cast<std::uint32_t>(behind - first_.begin()) - 1;
      const Insn& at = code(function)[number - first_[function]];
      found = at.fn == op_grid_wait;
      follow(function, at, go);
    });
    return found;
  }

 private:
  const std::vector<Insn>& code(std::uint32_t function) const {
    return kernel_.functions[function]->code;
  }
  std::uint32_t index_of(const DecodedFunction& function) const {
    const auto at = std::find_if(kernel_.functions.begin(), kernel_.functions.end(),
                                 [&](const auto& other) { return other.get() == &function; });
    return static_cast<std::uint32_t>(at - kernel_.functions.begin());
  }
  std::uint32_t number_of(std::uint32_t function, const Insn& insn) const {
    return first_[function] + static_cast<std::uint32_t>(&insn - code(function).data());
  }
  bool may_call(const Insn& insn, std::uint32_t function) const {
    const DecodedFunction* callee = static_cast<const CallSite*>(insn.u.data)->callee;
    return callee == nullptr || callee == kernel_.functions[function].get();
  }

  template <typename Go>
  void follow(std::uint32_t function, const Insn& insn, const Go& go) const {
    if (insn.fn == op_exit || insn.fn == op_trap) return;
    if (insn.fn == op_ret) return follow_return(function, go);
    if (insn.fn == op_brx) {
      for (const Insn* target : *static_cast<const std::vector<const Insn*>*>(insn.u.data)) {
        go(number_of(function, *target));
      }
      return;
    }
    if (insn.fn == op_call) {
      for (std::uint32_t f = 0; f < first_.size(); ++f) {
        if (may_call(insn, f) && !code(f).empty()) go(first_[f]);
      }
    }
    const bool branches = insn.fn == op_bra || insn.fn == op_bra_back || insn.fn == op_bra_if;
    if (branches) go(number_of(function, *insn.u.target));
    if (insn.fn != op_bra && insn.fn != op_bra_back) go_behind(function, insn, go);
  }

  template <typename Go>
  void go_behind(std::uint32_t function, const Insn& insn, const Go& go) const {
    if (&insn != &code(function).back()) go(number_of(function, insn) + 1);
  }

  // After each call that may be one of this function.
  template <typename Go>
  void follow_return(std::uint32_t function, const Go& go) const {
    if (kernel_.functions[function].get() == kernel_.entry) return;
    for (std::uint32_t caller = 0; caller < first_.size(); ++caller) {
      for (const Insn& insn : code(caller)) {
        if (insn.fn == op_call && may_call(insn, function)) go_behind(caller, insn, go);
      }
    }
  }

  const DecodedKernel& kernel_;
  std::vector<std::uint32_t> first_;  // by function: the number of its first instruction
  std::uint32_t count_ = 0;
};

}  // namespace

bool may_wait_after(const DecodedKernel& kernel, const DecodedFunction& function,
                    const Insn& insn) {
  return WaitSearch(kernel).find_wait(function, insn);
}

}  // namespace baton::sim
