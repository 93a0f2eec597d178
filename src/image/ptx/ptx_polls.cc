#include "image/ptx/ptx_polls.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

namespace baton::image {
namespace {

using ptx::Instruction;
using ptx::InstructionOperand;

// The instructions of a body in their order, and the places of its labels.
struct Lines {
  std::vector<const Instruction*> instructions;
  std::unordered_map<std::string_view, std::size_t> labels;

  void add(const ptx::Block& block) {
    for (const ptx::Statement& statement : block.statements) {
      if (const auto* i = std::get_if<Instruction>(&statement.node)) {
        instructions.push_back(i);
      } else if (const auto* label = std::get_if<ptx::Label>(&statement.node)) {
        labels.emplace(label->name, instructions.size());
      } else if (const auto* inner = std::get_if<ptx::Block>(&statement.node)) {
        add(*inner);
      }
    }
  }
};

bool is_strong_load(const Instruction& i) {
  return i.opcode == "ld" && !i.has("shared") && !i.has("shared::cta") &&
         !i.has("shared::cluster") && (i.has("volatile") || i.has("relaxed") || i.has("acquire"));
}

// Names of registers whose values come from strong loads of a loop.
class LoadedValues {
 public:
  void follow(const Instruction& i) {
    if (i.operands.empty() || i.opcode == "bra") return;
    bool is_loaded = is_strong_load(i);
    for (std::size_t k = 1; k < i.operands.size() && !is_loaded; ++k) {
      is_loaded = uses(i.operands[k]);
    }
    if (is_loaded) add(i.operands[0]);
  }
  bool decide(const Instruction& i) const { return names_.contains(i.guard); }
  std::size_t size() const { return names_.size(); }

 private:
  bool uses(const InstructionOperand& operand) const {
    if (operand.kind == InstructionOperand::Kind::kIdentifier) {
      return names_.contains(operand.text);
    }
    for (const InstructionOperand& child : operand.children) {
      if (uses(child)) return true;
    }
    return false;
  }
  void add(const InstructionOperand& operand) {
    if (operand.kind == InstructionOperand::Kind::kIdentifier) names_.insert(operand.text);
    // A store's first operand is an address, which it does not change.
    if (operand.kind == InstructionOperand::Kind::kAddress) return;
    for (const InstructionOperand& child : operand.children) add(child);
  }

  std::unordered_set<std::string_view> names_;
};

// The place that a branch names; nothing for one with several, or to nowhere.
const std::size_t* target_of(const Lines& lines, const Instruction& i) {
  if (i.opcode != "bra" || i.operands.size() != 1) return nullptr;
  const auto found = lines.labels.find(i.operands[0].text);
  return found == lines.labels.end() ? nullptr : &found->second;
}

// Whether a loop of the instructions [begin, end] is left, or goes on, by a loaded value.
bool is_decided(const Lines& lines, std::size_t begin, std::size_t end) {
  LoadedValues loaded;
  for (std::size_t before = SIZE_MAX; before != loaded.size();) {
    before = loaded.size();
    for (std::size_t k = begin; k <= end; ++k) loaded.follow(*lines.instructions[k]);
    if (loaded.size() == 0) return false;
  }
  for (std::size_t k = begin; k <= end; ++k) {
    const Instruction& i = *lines.instructions[k];
    if (!loaded.decide(i)) continue;
    if (i.opcode == "ret" || i.opcode == "exit") return true;
    const std::size_t* const target = target_of(lines, i);
    if (target != nullptr && (*target < begin || *target > end || k == end)) return true;
  }
  return false;
}

}  // namespace

bool polls(const ptx::Block& body) {
  Lines lines;
  lines.add(body);
  // A walk for each loop would be quadratic in hostile text: without a strong load there is none,
  // and with one the longest loops are looked at up to this many instructions in all.
  constexpr std::size_t kMostVisits = std::size_t{1} << 22;
  std::size_t visits = 0;
  bool has_strong = false;
  for (const Instruction* i : lines.instructions) has_strong |= is_strong_load(*i);
  if (!has_strong) return false;
  for (std::size_t k = 0; k < lines.instructions.size(); ++k) {
    const std::size_t* const target = target_of(lines, *lines.instructions[k]);
    if (target == nullptr || *target > k) continue;
    visits += k - *target + 1;
    if (visits > kMostVisits) return false;
    if (is_decided(lines, *target, k)) return true;
  }
  return false;
}

}  // namespace baton::image
