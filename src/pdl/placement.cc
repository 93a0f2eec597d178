#include "pdl/placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "ptx/cfg.h"

namespace baton::overlap {
namespace {

using Kind = Operation::Kind;
using ptx::ControlFlow;

// What an instruction of the kernel's own body does, the functions that it calls included.
struct Deed {
  std::uint32_t dependent = kNone;  // the first operation that may not be early
  bool loads = false;               // from global memory, or waits: a trigger comes behind that
};

bool is_call(const Operation& operation) {
  return operation.instruction != nullptr && operation.instruction->opcode == "call";
}

std::string_view verb_of(const AccessGroup& access) {
  return access.reads && access.writes ? "reads and writes memory"
         : access.reads                ? "reads memory"
                                       : "writes memory";
}

class Placer {
 public:
  Placer(const Footprint& footprint, const EarlyWork& early)
      : code_(*footprint.code),
        body_(*code_.kernel),
        flow_(body_),
        access_of_(code_.operations.size(), nullptr),
        early_(early),
        deeds_(body_.instructions().size()) {
    for (const AccessGroup& access : footprint.accesses) {
      for (std::uint32_t operation : access.operations) access_of_[operation] = &access;
    }
    for (std::uint32_t at = 0; at < deeds_.size(); ++at) note(at);
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      const Kind kind = code_.operations[at].kind;
      // What no path comes by does not count.
      if (kind == Kind::kWait && footprint.waits != Footprint::Waits::kNever) {
        own_wait_ = std::min(own_wait_, at);
      }
      if (kind == Kind::kTrigger && footprint.triggers) own_trigger_ = std::min(own_trigger_, at);
    }
  }

  Placement place(TriggerPlace trigger) {
    Placement out;
    out.obstacle = obstacle();
    if (!out.obstacle.empty()) return out;
    if (own_wait_ == kNone) {
      place_wait(out);
    } else {
      out.own = "its own wait, at " + place_of(own_wait_);
    }
    if (own_trigger_ == kNone) {
      place_trigger(out, trigger);
    } else {
      out.own += ", and its own trigger, at " + place_of(own_trigger_);
    }
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (code_.operations[at].non_coherent && depends(at)) out.incoherent.push_back(at);
    }
    return out;
  }

 private:
  std::string place_of(std::uint32_t at) const { return code_.place(code_.operations[at]); }

  // Whether it touches memory in a way that may not be early.
  bool depends(std::uint32_t at) const {
    const AccessGroup* access = access_of_[at];
    return access != nullptr && !may_be_early(code_, at, *access, early_);
  }

  // The call of a failed assertion. It ends the grid with an error whatever came before, as a trap
  // does, so nothing of it has to wait.
  bool is_failed_assertion(const Operation& operation) const {
    constexpr std::string_view kName = "__assertfail";
    const auto& operands = operation.instruction->operands;
    const ptx::Function* function = code_.module->function(kName);
    return function != nullptr && !function->has_body && function->linkage == "extern" &&
           std::any_of(operands.begin(), operands.end(),
                       [&](const ptx::InstructionOperand& operand) {
                         return operand.kind == ptx::InstructionOperand::Kind::kIdentifier &&
                                operand.text == kName;
                       });
  }

  // Whether the operation alone, whatever memory it touches, has to be behind the wait: functions
  // of the runtime print and take memory in the order of launches.
  bool is_side_effect(const Operation& operation) const {
    if (operation.kind == Kind::kOpen) return true;
    return operation.kind == Kind::kCompute && is_call(operation) &&
           !is_failed_assertion(operation);
  }

  void place_trigger(Placement& out, TriggerPlace trigger) const {
    switch (trigger) {
      case TriggerPlace::kNowhere:
        break;
      case TriggerPlace::kAtTop:
        out.triggers = {kTop};
        break;
      case TriggerPlace::kAtExits:
        place_at_exits(out);
        break;
      case TriggerPlace::kBehindLoads:
        place_behind_loads(out);
        break;
    }
    if (own_wait_ == kNone || trigger == TriggerPlace::kAtTop) return;
    // The first thread to trigger does so for its block, so none may that has not waited.
    const std::vector<Order> order = find_order(code_, {}).of;
    const auto is_early = [&](std::uint32_t at) { return order[at] != Order::kAfter; };
    std::erase_if(out.triggers, is_early);
    std::erase_if(out.last_iterations,
                  [&](const LastIteration& iteration) { return is_early(iteration.at); });
  }

  std::string obstacle() const {
    if (deeds_.empty()) return "it has no instructions";
    if (own_wait_ == kNone) {
      return own_trigger_ == kNone
                 ? ""
                 : "it has a trigger of its own, at " + place_of(own_trigger_) + ", and no wait";
    }
    for (std::uint32_t at = 0; at < code_.operations.size(); ++at) {
      if (!depends(at) || access_of_[at]->order == Order::kAfter) continue;
      const std::string does = fmt::format("it {} at {}", verb_of(*access_of_[at]), place_of(at));
      const std::string wait = "its own wait, at " + place_of(own_wait_);
      return access_of_[at]->order == Order::kBefore
                 ? does + ", which " + wait + ", does not precede"
                 : does + ", and nothing proves that " + wait + ", comes before";
    }
    return "";
  }

  void note(std::uint32_t at) {
    Deed& deed = deeds_[at];
    note(deed, at);
    const Operation& operation = code_.operations[at];
    if (!is_call(operation)) return;
    // The callee's operations come behind the end of the kernel's own, and are this call's alone.
    const auto end = static_cast<std::uint32_t>(deeds_.size());
    std::vector<std::uint32_t> open;
    const auto go = [&](std::uint32_t from, std::uint32_t to) {
      // A callee may end the thread, which then never comes to what is behind the call.
      if (to == end && from != at) deed.dependent = std::min(deed.dependent, from);
      if (to <= end || seen_.size() <= to) return;
      if (!seen_[to]) open.push_back(to);
      seen_[to] = true;
    };
    seen_.resize(code_.operations.size());
    for (std::uint32_t to : operation.next) go(at, to);
    while (!open.empty()) {
      const std::uint32_t inner = open.back();
      open.pop_back();
      note(deed, inner);
      for (std::uint32_t to : code_.operations[inner].next) go(inner, to);
    }
  }

  void note(Deed& deed, std::uint32_t at) const {
    const Operation& operation = code_.operations[at];
    const AccessGroup* access = access_of_[at];
    if (is_side_effect(operation) || depends(at)) deed.dependent = std::min(deed.dependent, at);
    deed.loads |= operation.kind == Kind::kOpen || operation.kind == Kind::kWait ||
                  (access != nullptr && access->reads);
  }

  // Blocks that every thread comes by, in their order: what post-dominates the entry. Region k is
  // what lies between the k-th of them and the next one.
  struct Stretch {
    std::uint32_t block = 0;
    bool loops = false;               // the block may come again
    std::uint32_t dependent = kNone;  // the first instruction that may not be early, in the block
    std::uint32_t beyond = kNone;     // or else in its region
  };

  std::vector<Stretch> stretches() const {
    std::vector<Stretch> result;
    std::vector<std::uint32_t> number(flow_.exit() + 1, kNone);  // by block: its stretch
    for (std::uint32_t b = 0; b < flow_.exit(); b = flow_.immediate_post_dominator(b)) {
      number[b] = static_cast<std::uint32_t>(result.size());
      result.push_back({.block = b, .dependent = first_dependent(b)});
    }
    std::vector<bool> is_first(flow_.exit() + 1, false);
    for (const Stretch& stretch : result) is_first[stretch.block] = true;
    std::vector<std::int64_t> ways_back(result.size() + 1);  // how many more at k than before it
    std::vector<std::uint32_t> open;
    for (std::uint32_t k = 0; k < result.size(); ++k) {
      open.push_back(result[k].block);
      while (!open.empty()) {
        const std::uint32_t at = open.back();
        open.pop_back();
        for (std::uint32_t to : flow_.successors(at)) {
          if (to == flow_.exit()) continue;
          if (number[to] == kNone) {
            number[to] = k;
            result[k].beyond = std::min(result[k].beyond, first_dependent(to));
            open.push_back(to);
          } else if (number[to] <= k && (is_first[to] || number[to] < k)) {
            // A way back: what all paths from there come by, up to here, comes again.
            ++ways_back[number[to] + (is_first[to] ? 0 : 1)];
            --ways_back[k + 1];
          }
        }
      }
    }
    std::int64_t open_ways = 0;
    for (std::size_t k = 0; k < result.size(); ++k) {
      open_ways += ways_back[k];
      result[k].loops = open_ways > 0;
    }
    return result;
  }

  std::uint32_t first_dependent(std::uint32_t block) const {
    const auto& [begin, end] = flow_.blocks()[block];
    for (std::uint32_t at = begin; at < end; ++at) {
      if (deeds_[at].dependent != kNone) return at;
    }
    return kNone;
  }

  void place_wait(Placement& out) const {
    const std::vector<Stretch> all = stretches();
    // The first that has something to wait for, in it or behind it.
    std::size_t last = 0;
    while (last + 1 < all.size() && all[last].dependent == kNone && all[last].beyond == kNone) {
      ++last;
    }
    const std::uint32_t wanted =
        all[last].dependent != kNone ? all[last].dependent : all[last].beyond;
    std::size_t chosen = last;
    while (chosen > 0 && all[chosen].loops) --chosen;
    const Stretch& stretch = all[chosen];
    if (stretch.loops) {
      out.wait = kTop;  // the body begins with a loop
    } else if (stretch.dependent != kNone) {
      out.wait = before_arguments(stretch.dependent);
    } else {
      out.wait = before_arguments(flow_.blocks()[stretch.block].end - 1);
    }
    if (wanted == kNone) {
      out.because = "the kernel touches nothing that another launch may touch";
    } else if (chosen != last || stretch.loops) {
      out.because = "it is in front of the loop in which the kernel " + describe(wanted);
    } else if (stretch.dependent != kNone) {
      out.because = "directly after it the kernel " + describe(wanted);
    } else {
      out.because = "every thread passes it, and on some path the kernel then " + describe(wanted);
    }
  }

  // In front of a call, what it is passed stands together with it.
  std::uint32_t before_arguments(std::uint32_t at) const {
    if (!is_call(code_.operations[at])) return at;
    const std::uint32_t begin = flow_.blocks()[flow_.block_of(at)].begin;
    std::uint32_t first = at;
    for (std::uint32_t before = at; before-- > begin;) {
      const ptx::Instruction& instruction = *code_.operations[before].instruction;
      if (instruction.opcode == "call") break;
      if (instruction.opcode == "st" && code_.operations[before].kind == Kind::kPass) {
        first = before;
      }
    }
    return first;
  }

  std::string describe(std::uint32_t at) const {
    const std::uint32_t dependent = deeds_[at].dependent;
    const Operation& operation = code_.operations[dependent];
    const AccessGroup* access = access_of_[dependent];
    const std::string_view verb = is_side_effect(operation) ? "calls a function"
                                  : access == nullptr       ? "may end in a function"
                                                            : verb_of(*access);
    return fmt::format("{} at {}", verb, code_.place(operation));
  }

  bool is_end(std::uint32_t at) const {
    const ptx::FlatInstruction& flat = body_.instructions()[at];
    return flat.is(ptx::Form::Kind::kReturn) || flat.is(ptx::Form::Kind::kExit);
  }

  void place_at_exits(Placement& out) const {
    for (std::uint32_t at = 0; at < deeds_.size(); ++at) {
      if (is_end(at) && flow_.is_reachable(flow_.block_of(at))) out.triggers.push_back(at);
    }
  }

  // Where nothing more is loaded, and before that something may be. A thread that ends triggers by
  // that.
  void place_behind_loads(Placement& out) const {
    const auto count = static_cast<std::uint32_t>(flow_.blocks().size());
    // By block: behind which instruction the last load is done; `begin` where there is none.
    std::vector<std::uint32_t> done(count);
    std::vector<bool> loads(count), leads(count + 1);  // `leads`: to a load, in it or behind it
    std::vector<std::uint32_t> open;
    for (std::uint32_t b = 0; b < count; ++b) {
      const auto& [begin, end] = flow_.blocks()[b];
      done[b] = begin;
      for (std::uint32_t at = begin; at < end; ++at) {
        if (deeds_[at].loads) done[b] = at + 1, loads[b] = true;
      }
    }
    if (own_wait_ == kNone) {
      const std::uint32_t waits = out.wait == kTop ? 0 : out.wait;
      const std::uint32_t home = flow_.block_of(waits);
      done[home] = std::max(done[home], waits);
      loads[home] = true;
    }
    for (std::uint32_t b = 0; b < count; ++b) {
      leads[b] = loads[b];
      if (loads[b]) open.push_back(b);
    }
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      for (std::uint32_t before : flow_.predecessors(at)) {
        if (!leads[before]) open.push_back(before);
        leads[before] = true;
      }
    }
    const auto goes_on = [&](std::uint32_t b) {
      const auto& next = flow_.successors(b);
      return std::any_of(next.begin(), next.end(), [&](std::uint32_t to) { return leads[to]; });
    };
    // Blocks that end a loop whose last iteration triggers: who leaves them has done so.
    std::vector<bool> knows(count);
    for (std::uint32_t b = 0; b < count; ++b) {
      if (!flow_.is_reachable(b) || !loads[b] || !goes_on(b)) continue;
      if (const auto iteration = last_iteration(b, done[b], loads, leads)) {
        knows[flow_.block_of(iteration->branch)] = true;
        out.last_iterations.push_back(*iteration);
      }
    }
    for (std::uint32_t b = 0; b < count; ++b) {
      if (!flow_.is_reachable(b) || goes_on(b)) continue;
      const auto& before = flow_.predecessors(b);
      const bool begins = !loads[b] && std::any_of(before.begin(), before.end(), [&](auto from) {
        return flow_.is_reachable(from) && goes_on(from) && !knows[from];
      });
      if ((loads[b] || begins) && done[b] < deeds_.size() && !is_end(done[b])) {
        out.triggers.push_back(done[b]);
      }
    }
    std::sort(out.triggers.begin(), out.triggers.end());
    out.triggers.erase(std::unique(out.triggers.begin(), out.triggers.end()), out.triggers.end());
  }

  // Where a thread that has done the block's loads, in front of `done`, goes straight on, by a
  // write, to a branch that leads to more of them or to none, and can tell which: there.
  std::optional<LastIteration> last_iteration(std::uint32_t block, std::uint32_t done,
                                              const std::vector<bool>& loads,
                                              const std::vector<bool>& leads) const {
    const std::uint32_t home = block;
    constexpr std::size_t kLongest = 4096;  // instructions of an iteration that are looked at
    std::vector<std::uint32_t> path;
    std::uint32_t at = done;
    for (;;) {
      const std::uint32_t last = flow_.blocks()[block].end - 1;
      for (; at < last; ++at) path.push_back(at);
      const auto& next = flow_.successors(block);
      if (next.size() == 2) break;
      if (next.size() != 1 || next[0] == flow_.exit() || loads[next[0]]) return std::nullopt;
      if (at == last) path.push_back(at);
      if (path.size() > kLongest || flow_.predecessors(next[0]).size() != 1) return std::nullopt;
      block = next[0];
      at = flow_.blocks()[block].begin;
    }
    const std::uint32_t branch = flow_.blocks()[block].end - 1;
    const Operation& leaves = code_.operations[branch];
    // Without a write there is little behind the load, and the trigger may as well stand behind the
    // loop.
    const bool writes = std::any_of(path.begin(), path.end(), [&](std::uint32_t each) {
      return access_of_[each] != nullptr && access_of_[each]->writes;
    });
    if (!writes || leaves.kind != Kind::kBranch || leaves.instruction->guard.empty()) {
      return std::nullopt;
    }
    // Of a guarded branch the first is the next in order.
    const auto goes_to_loads = [&](std::uint32_t operation) {
      return operation < deeds_.size() && leads[flow_.block_of(operation)];
    };
    if (leaves.next.size() != 2) return std::nullopt;
    const bool where_taken = goes_to_loads(leaves.next[1]);
    if (goes_to_loads(leaves.next[0]) == where_taken) return std::nullopt;
    // Only back to where every iteration begins, if need be by a jump.
    std::uint32_t again = flow_.block_of(leaves.next[where_taken ? 1 : 0]);
    const auto& jump = flow_.successors(again);
    const bool jumps = jump.size() == 1 && jump[0] != flow_.exit();
    if (!flow_.dominates(again, home) && jumps) again = jump[0];
    if (!flow_.dominates(again, home)) return std::nullopt;
    auto repeated = deciding(body_, path, branch, done);
    if (!repeated) return std::nullopt;
    return LastIteration{done, branch, !where_taken, std::move(*repeated)};
  }

  const Code& code_;
  const ptx::FlatFunction body_;
  const ControlFlow flow_;
  std::vector<const AccessGroup*> access_of_;  // by operation
  const EarlyWork& early_;
  std::uint32_t own_wait_ = kNone, own_trigger_ = kNone;  // the first ones in the text
  std::vector<Deed> deeds_;                               // by instruction of the body
  std::vector<bool> seen_;                                // operations of callees
};

}  // namespace

bool may_be_early(const Code& code, std::uint32_t operation, const AccessGroup& access,
                  const EarlyWork& early) {
  if (access.writes || code.operations[operation].orders) return false;
  bool is_memory = false;
  for (const Root& root : access.roots) {
    if (root.kind == Root::Kind::kVariable && root.constant && early.constant_memory) {
      is_memory = true;
      continue;
    }
    if (root.kind != Root::Kind::kParam || root.param >= early.params.size()) return false;
    const EarlyArgument use = early.params[root.param];
    if (use == EarlyArgument::kAny || root.by_value || root.offset != 0) return false;
    is_memory |= use == EarlyArgument::kConstantMemory;
  }
  return is_memory;
}

Placement place(const Footprint& footprint, const EarlyWork& early, TriggerPlace trigger) {
  return Placer(footprint, early).place(trigger);
}

}  // namespace baton::overlap
