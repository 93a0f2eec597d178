#include "pdl/rewrite/rewrite.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "chip/chip.h"
#include "ptx/flat.h"
#include "ptx/text_edit.h"

namespace baton::overlap {
namespace {

constexpr std::string_view kWait = "griddepcontrol.wait; ";
constexpr std::string_view kTrigger = "griddepcontrol.launch_dependents; ";

using ptx::TextEdit;

std::string target_obstacle(const ptx::ParsedModule& module) {
  std::string_view digits = module.target();
  digits.remove_prefix(std::min(digits.size(), std::string_view("sm_").size()));
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const std::pair version(module.version_major(), module.version_minor());
  // PTX ISA 9.0, "griddepcontrol": since PTX 7.8. No older PTX has a target that can do it, so
  // there is no version to raise.
  if (number >= chip::kFirstWithPdl && version >= std::pair(7, 8)) return "";
  return fmt::format(
      "its PTX {}.{} is for {}, and programmatic dependent launch takes PTX 7.8 for sm_{} or later",
      version.first, version.second, module.target(), chip::kFirstWithPdl);
}

class Editor {
 public:
  Editor(const ptx::ParsedModule& module, const Code& code, const Placement& placement)
      : module_(module), code_(code) {
    if (placement.own.empty()) wait(placement);
    for (std::uint32_t at : placement.triggers.before) trigger(at);
    const ptx::FlatFunction body(*code.kernel);
    for (const LastIteration& iteration : placement.triggers.last_iterations) {
      trigger(body, iteration);
    }
    for (std::uint32_t at : placement.incoherent) make_plain(at);
  }

  std::vector<Change> changes;
  std::vector<TextEdit> edits;
  std::uint32_t inserted = 0;  // instructions

 private:
  std::size_t place(std::uint32_t at) const {
    if (at == kTop) return ptx::top_of(module_, *code_.kernel);
    return ptx::begin_of(module_, *code_.operations[at].instruction);
  }

  std::string where(std::uint32_t at) const {
    return code_.place(code_.operations[at == kTop ? 0 : at]);
  }

  // At one place what is inserted stands in the order of insertion, but at the top in the reverse:
  // a trigger where the wait stands comes after it, unless it is to be the first of all.
  void insert(std::uint32_t at, std::string text) {
    ++inserted;
    edits.insert(at == kTop ? edits.begin() : edits.end(), {place(at), 0, std::move(text)});
  }

  void wait(const Placement& placement) {
    insert(placement.wait, std::string(kWait));
    changes.push_back({Change::Kind::kWait, where(placement.wait), placement.because});
  }

  void trigger(std::uint32_t at) {
    const ptx::Instruction* before = at == kTop ? nullptr : code_.operations[at].instruction;
    const bool is_end = before != nullptr && (before->opcode == "ret" || before->opcode == "exit");
    std::string text;
    if (is_end && !before->guard.empty()) {
      text = fmt::format("@{}{} ", before->guard_negated ? "!" : "", before->guard);
    }
    insert(at, text.append(kTrigger));
    changes.push_back({Change::Kind::kTrigger, where(at),
                       at == kTop ? "it is the first instruction"
                       : is_end   ? "the kernel ends after it"
                                  : "nothing more is loaded after it"});
  }

  void trigger(const ptx::FlatFunction& body, const LastIteration& iteration) {
    insert(iteration.at, emit_in_last_iteration(body, iteration, kTrigger));
    inserted += static_cast<std::uint32_t>(iteration.repeated.size());
    changes.push_back({Change::Kind::kTrigger, where(iteration.at),
                       "it loads nothing more in a thread's last iteration of the loop"});
  }

  void make_plain(std::uint32_t at) {
    const Operation& operation = code_.operations[at];
    const ptx::Instruction& instruction = *operation.instruction;
    TextEdit edit;
    if (instruction.opcode == "ldu") {
      edit = {ptx::offset_of(module_, instruction.opcode), 3, "ld"};
    } else {
      const auto nc = std::find(instruction.modifiers.begin(), instruction.modifiers.end(), "nc");
      if (nc == instruction.modifiers.end()) return;     // of a texture
      edit = {ptx::offset_of(module_, *nc) - 1, 3, ""};  // with its dot
    }
    // A function's body may stand in many places.
    if (std::find(edits.begin(), edits.end(), edit) != edits.end()) return;
    edits.push_back(std::move(edit));
    changes.push_back({Change::Kind::kPlainLoad, code_.place(operation),
                       "no wait orders a non-coherent load, and another launch may write there"});
  }

  const ptx::ParsedModule& module_;
  const Code& code_;
};

// Why what came out is not what was meant, or empty.
std::string objection(const std::shared_ptr<const ptx::ParsedModule>& module,
                      const RewriteRequest& request, std::size_t instructions,
                      Footprint::Waits waits) {
  const ptx::Function* kernel = module->function(request.kernel->name);
  if (kernel == nullptr || !kernel->has_body) return "it is gone from its own PTX";
  const std::size_t count = ptx::FlatFunction(*kernel).instructions().size();
  if (count != instructions) {
    return fmt::format("it has {} instructions and should have {}", count, instructions);
  }
  const Footprint found = read_footprint(module, *kernel, {});
  if (found.unseen) return describe(*found.unseen);
  if (found.waits != waits) return "not every thread that must wait passes its wait";
  for (const AccessGroup& access : found.accesses) {
    for (std::uint32_t at : access.operations) {
      const Operation& operation = found.code->operations[at];
      if (!found.code->operations[at].orders && may_be_early(found, access, request.early))
        continue;
      if (access.order != Order::kAfter) {
        return "what it does at " + found.code->place(operation) + " is not after its wait";
      }
      const std::string_view opcode = operation.instruction->opcode;
      if (operation.non_coherent && (opcode == "ld" || opcode == "ldu")) {
        return "it loads non-coherently at " + found.code->place(operation);
      }
    }
  }
  return "";
}

// What `step` gives, or why the text that it reads is not PTX.
template <typename Step>
std::string obstacle_of(const Step& step) {
  try {
    return step();
  } catch (const Error& unreadable) {
    if (unreadable.code() != ErrorCode::kInvalidInput) throw;
    return unreadable.message();
  }
}

class Rewriter {
 public:
  Rewriter(const std::shared_ptr<const ptx::ParsedModule>& module,
           std::span<const RewriteRequest> requests)
      : module_(module), requests_(requests) {
    const std::string obstacle = target_obstacle(*module);
    for (const RewriteRequest& request : requests) {
      Draft& draft = drafts_.emplace_back();
      draft.result.kernel = request.kernel->name;
      if (!obstacle.empty()) {
        draft.result.obstacle = obstacle;
        continue;
      }
      draft.result.obstacle = obstacle_of([&] { return plan(request, draft); });
    }
  }

  Rewriting take() {
    Rewriting out;
    // Kernels whose result does not hold are left out of the next round, so each may be wrong once.
    while (!holds(out.module)) {
    }
    for (Draft& draft : drafts_) {
      if (!draft.result.obstacle.empty()) {
        draft.result.changes.clear();
        draft.result.own.clear();
      }
      out.kernels.push_back(std::move(draft.result));
    }
    return out;
  }

 private:
  struct Draft {
    RewrittenKernel result;
    std::vector<TextEdit> edits;
    std::size_t instructions = 0;  // of the body when it is done
    Footprint::Waits waits = Footprint::Waits::kAll;
  };

  // What there is to change, or why nothing is.
  std::string plan(const RewriteRequest& request, Draft& draft) const {
    const Footprint found = read_footprint(module_, *request.kernel, {});
    if (found.unseen) return describe(*found.unseen);
    const Placement placement = place(found, request.early, request.trigger);
    if (!placement.obstacle.empty()) return placement.obstacle;
    draft.result.own = placement.own;
    if (!placement.own.empty()) draft.waits = found.waits;
    Editor editor(*module_, *found.code, placement);
    draft.edits = std::move(editor.edits);
    draft.result.changes = std::move(editor.changes);
    draft.instructions = ptx::FlatFunction(*request.kernel).instructions().size() + editor.inserted;
    return "";
  }

  // Whether all that is left to be changed can be; else what cannot is out.
  bool holds(std::shared_ptr<const ptx::ParsedModule>& module) {
    std::vector<TextEdit> edits;
    std::map<std::size_t, std::size_t> removals;  // by place: kernels may share a function
    module = nullptr;
    for (const Draft& draft : drafts_) {
      if (!draft.result.obstacle.empty()) continue;
      for (const TextEdit& edit : draft.edits) {
        if (edit.removed != 0 && !removals.emplace(edit.at, edit.removed).second) continue;
        edits.push_back(edit);
      }
    }
    if (edits.empty()) return true;
    // Edits that do not parse are an obstacle, as is whatever else comes out wrong.
    const std::string unreadable = obstacle_of([&] {
      module =
          ptx::ParsedModule::parse(ptx::edited(module_->text(), std::move(edits)), module_->name());
      return std::string();
    });
    bool all = true;
    for (std::size_t k = 0; k < drafts_.size(); ++k) {
      std::string& obstacle = drafts_[k].result.obstacle;
      if (!obstacle.empty()) continue;
      obstacle = !unreadable.empty() ? unreadable : obstacle_of([&] {
        return objection(module, requests_[k], drafts_[k].instructions, drafts_[k].waits);
      });
      all &= obstacle.empty();
    }
    return all;
  }

  const std::shared_ptr<const ptx::ParsedModule>& module_;
  const std::span<const RewriteRequest> requests_;
  std::vector<Draft> drafts_;
};

}  // namespace

Rewriting rewrite(const std::shared_ptr<const ptx::ParsedModule>& module,
                  std::span<const RewriteRequest> requests) {
  return Rewriter(module, requests).take();
}

}  // namespace baton::overlap
