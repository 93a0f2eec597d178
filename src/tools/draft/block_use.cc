#include "tools/draft/block_use.h"

#include <bit>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <variant>

namespace baton::tools {
namespace {

using ptx::Instruction;
using ptx::InstructionOperand;

// Larger constants are sizes of a whole, not of a block.
constexpr std::uint64_t kLargestTile = 4096;

class BlockUseReader {
 public:
  BlockUse read(const ptx::Function& kernel) {
    use_.reads_thread = false;
    block(kernel.body());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (factors_[axis].size() == 1) use_.tile[axis] = *factors_[axis].begin();
    }
    return use_;
  }

 private:
  void block(const ptx::Block& of) {
    for (const ptx::Statement& statement : of.statements) {
      if (const auto* i = std::get_if<Instruction>(&statement.node)) {
        instruction(*i);
      } else if (const auto* inner = std::get_if<ptx::Block>(&statement.node)) {
        block(*inner);
      }
    }
  }

  void instruction(const Instruction& i) {
    use_.has_warp_matrices |= i.opcode == "wmma";
    // What is called may read the thread's index.
    use_.reads_thread |= i.opcode == "call";
    for (const InstructionOperand& operand : i.operands) {
      use_.reads_thread |= operand.text.starts_with("%tid") || operand.text == "%laneid";
    }
    if (i.opcode == "mov" && i.operands.size() == 2) {
      if (const auto axis = axis_of(i.operands[1].text)) index_of_[i.operands[0].text] = *axis;
    } else if (i.operands.size() >= 3 &&
               (i.opcode == "shl" || i.opcode == "mul" || i.opcode == "mad")) {
      multiply(i);
    }
  }

  static std::optional<std::size_t> axis_of(std::string_view source) {
    constexpr std::string_view kAxes[] = {"%ctaid.x", "%ctaid.y", "%ctaid.z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (source == kAxes[axis]) return axis;
    }
    return std::nullopt;
  }

  void multiply(const Instruction& i) {
    // A wide product is an address: its factor has the size of an element in it.
    const InstructionOperand& factor = i.operands[2];
    if (i.has("wide") || factor.kind != InstructionOperand::Kind::kInteger) return;
    const auto index = index_of_.find(i.operands[1].text);
    if (index == index_of_.end()) return;
    const std::uint64_t by = factor.bits;
    if (i.opcode == "shl" && by > 12) return;
    const std::uint64_t tile = i.opcode == "shl" ? std::uint64_t{1} << by : by;
    if (tile < 2 || tile > kLargestTile || !std::has_single_bit(tile)) return;
    factors_[index->second].insert(static_cast<std::uint32_t>(tile));
  }

  BlockUse use_;
  std::unordered_map<std::string_view, std::size_t> index_of_;  // axes, by register
  std::array<std::set<std::uint32_t>, 3> factors_;
};

}  // namespace

BlockUse block_use(const ptx::Function& kernel) {
  return BlockUseReader().read(kernel);
}

}  // namespace baton::tools
