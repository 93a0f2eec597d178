#include "image/ptx/ptx_reach.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "baton/error.h"
#include "image/ptx/ptx_polls.h"
#include "image/ptx/ptx_types.h"

namespace baton::image {

using ptx::Function;
using ptx::InstructionOperand;

struct PtxReach::Summary {
  std::vector<const Function*> calls;
  std::vector<const ptx::Variable*> shared;  // static shared variables declared or named here
  bool waits = false;
  bool triggers = false;
  bool grid_sync = false;
  bool polls = false;
  bool is_open = false;  // calls something that cannot be seen
  int thread_axes = 1;
  int block_axes = 1;
  bool dynamic_shared = false;
};

struct PtxReach::Tables {
  std::unordered_map<const Function*, Summary> summaries;
  std::unordered_map<std::string_view, const ptx::Variable*> shared;
  std::unordered_set<std::string_view> dynamic_shared;
};

namespace {

// External functions that every CUDA device provides; none of them waits or triggers.
bool is_device_runtime(std::string_view name) {
  for (std::string_view known : {"vprintf", "malloc", "free", "__assertfail"}) {
    if (name == known) return true;
  }
  return name.starts_with("cuda") || name.starts_with("__cuda");
}

bool is_static_shared(const ptx::Variable& variable) {
  return variable.space == ptx::StateSpace::kShared && variable.linkage != "extern";
}

bool is_sized_by_launch(const ptx::Variable& variable) {
  return variable.space == ptx::StateSpace::kShared && variable.linkage == "extern";
}

// 2 for "%tid.y" with the register "%tid"; 1 for another axis or another register.
int axes_of(std::string_view operand, std::string_view special) {
  if (!operand.starts_with(special)) return 1;
  const std::string_view axis = operand.substr(special.size());
  return axis == ".y" ? 2 : axis == ".z" ? 3 : 1;
}

}  // namespace

class PtxReach::Reader {
 public:
  Reader(const ptx::ParsedModule& module, const Tables& tables, Summary& out)
      : module_(module), tables_(tables), out_(out) {}

  void read(const ptx::Block& body) {
    block(body);
    // Call sites name their possible targets by label; the label may follow the call.
    for (const ptx::Instruction* site : indirect_) resolve(*site);
  }

 private:
  void block(const ptx::Block& of) {
    for (const ptx::Statement& statement : of.statements) {
      if (const auto* i = std::get_if<ptx::Instruction>(&statement.node)) {
        instruction(*i);
      } else if (const auto* variable = std::get_if<ptx::Variable>(&statement.node)) {
        if (is_static_shared(*variable)) out_.shared.push_back(variable);
      } else if (const auto* targets = std::get_if<ptx::TargetList>(&statement.node)) {
        if (targets->calls) targets_.emplace(targets->name, targets);
      } else if (const auto* inner = std::get_if<ptx::Block>(&statement.node)) {
        block(*inner);
      }
    }
  }

  void instruction(const ptx::Instruction& i) {
    if (i.opcode == "griddepcontrol") {
      out_.waits |= i.has("wait");
      out_.triggers |= i.has("launch_dependents");
    } else if (i.opcode == "call") {
      call(i);
    } else if (i.opcode == "mov" && i.operands.size() == 2) {
      // Where cooperative_groups' grid.sync() finds the workspace of a cooperative launch.
      const std::string_view source = i.operands[1].text;
      out_.grid_sync |= source == "%envreg1" || source == "%envreg2";
      out_.thread_axes = std::max(out_.thread_axes, axes_of(source, "%tid"));
      out_.block_axes = std::max(out_.block_axes, axes_of(source, "%ctaid"));
    }
    if (tables_.shared.empty() && tables_.dynamic_shared.empty()) return;
    for (const InstructionOperand& operand : i.operands) names(operand);
  }

  void names(const InstructionOperand& operand) {
    if (operand.kind == InstructionOperand::Kind::kIdentifier) {
      const auto found = tables_.shared.find(operand.text);
      if (found != tables_.shared.end() && named_.insert(found->second).second) {
        out_.shared.push_back(found->second);
      }
      out_.dynamic_shared |= tables_.dynamic_shared.contains(operand.text);
    }
    for (const InstructionOperand& child : operand.children) names(child);
  }

  void call(const ptx::Instruction& i) {
    for (const InstructionOperand& operand : i.operands) {
      if (operand.kind != InstructionOperand::Kind::kIdentifier) continue;
      if (!calls(operand.text)) indirect_.push_back(&i);
      return;
    }
    out_.is_open = true;
  }

  bool calls(std::string_view name) {
    const Function* function = module_.function(name);
    if (function == nullptr) return false;
    if (function->has_body) {
      if (called_.insert(function).second) out_.calls.push_back(function);
    } else if (!is_device_runtime(function->name)) {
      out_.is_open = true;
    }
    return true;
  }

  void resolve(const ptx::Instruction& site) {
    const InstructionOperand& last = site.operands.back();
    const auto found = targets_.find(last.text);
    if (last.kind != InstructionOperand::Kind::kIdentifier || found == targets_.end()) {
      out_.is_open = true;
      return;
    }
    for (std::string_view target : found->second->targets) {
      if (!calls(target)) out_.is_open = true;
    }
  }

  const ptx::ParsedModule& module_;
  const Tables& tables_;
  Summary& out_;
  std::unordered_set<const ptx::Variable*> named_;
  std::unordered_set<const Function*> called_;
  std::vector<const ptx::Instruction*> indirect_;
  std::unordered_map<std::string_view, const ptx::TargetList*> targets_;
};

PtxReach::PtxReach(const ptx::ParsedModule& module)
    : module_(module), tables_(std::make_unique<Tables>()) {
  for (const ptx::TopLevel& item : module.items()) {
    if (const auto* variable = std::get_if<ptx::Variable>(&item)) {
      if (is_static_shared(*variable)) tables_->shared.emplace(variable->name, variable);
      if (is_sized_by_launch(*variable)) tables_->dynamic_shared.insert(variable->name);
    }
  }
}

PtxReach::~PtxReach() = default;

const PtxReach::Summary& PtxReach::summary(const Function& function) {
  const auto [entry, is_new] = tables_->summaries.try_emplace(&function);
  Summary& out = entry->second;
  if (!is_new) return out;
  try {
    Reader(module_, *tables_, out).read(function.body());
    out.polls = polls(function.body());
  } catch (const Error& unreadable) {
    out.is_open = true;
    remarks_.emplace_back(unreadable.what());
  }
  return out;
}

Reached PtxReach::from(const Function& kernel) {
  bool is_open = false;
  bool waits = false;
  bool triggers = false;
  bool grid_sync = false;
  bool polls = false;
  Reached out;
  std::vector<const Function*> pending = {&kernel};
  std::unordered_set<const Function*> seen = {&kernel};
  std::unordered_set<const ptx::Variable*> counted;
  std::uint64_t shared = 0;
  bool is_shared_known = true;
  while (!pending.empty()) {
    if (++visits_ > kMaxVisits) {
      is_open = true;
      break;
    }
    const Summary& here = summary(*pending.back());
    pending.pop_back();
    waits |= here.waits;
    triggers |= here.triggers;
    grid_sync |= here.grid_sync;
    polls |= here.polls;
    is_open |= here.is_open;
    out.thread_axes = std::max(out.thread_axes, here.thread_axes);
    out.block_axes = std::max(out.block_axes, here.block_axes);
    out.dynamic_shared |= here.dynamic_shared;
    for (const ptx::Variable* variable : here.shared) {
      if (!counted.insert(variable).second) continue;
      const std::optional<PtxExtent> extent = extent_of(*variable);
      if (extent && shared <= UINT32_MAX) {
        shared = align_up(shared, extent->align) + extent->size;
      } else {
        is_shared_known = false;
      }
    }
    for (const Function* callee : here.calls) {
      if (!seen.insert(callee).second) continue;
      pending.push_back(callee);
      out.called.push_back(callee);
    }
  }
  out.is_open = is_open;
  const auto known = [&](bool found) {
    return found || !is_open ? std::optional<bool>(found) : std::nullopt;
  };
  out.waits = known(waits);
  out.triggers = known(triggers);
  out.grid_sync = known(grid_sync);
  out.polls = known(polls);
  if (is_shared_known && !is_open && shared <= UINT32_MAX) {
    out.static_shared = static_cast<std::uint32_t>(shared);
  }
  return out;
}

}  // namespace baton::image
