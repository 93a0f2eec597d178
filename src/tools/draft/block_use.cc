#include "tools/draft/block_use.h"

#include <bit>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
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
    use_.reads_block = false;
    use_.tells_tiles = true;
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
    // What is called may read the thread's index, and that of the block.
    use_.reads_thread |= i.opcode == "call";
    use_.reads_block |= i.opcode == "call";
    use_.tells_tiles &= i.opcode != "call";
    for (const InstructionOperand& operand : i.operands) {
      use_.reads_thread |= operand.text.starts_with("%tid") || operand.text == "%laneid";
      use_.reads_block |=
          operand.text.starts_with("%ctaid") || operand.text.starts_with("%cluster");
    }
    if (i.opcode == "mov" && i.operands.size() == 2) {
      note(index_of_, i.operands[0].text, axis_of(i.operands[1].text, "%ctaid"));
      note(extent_of_, i.operands[0].text, axis_of(i.operands[1].text, "%ntid"));
    } else if (i.opcode == "cvt" && i.operands.size() == 2) {
      note(index_of_, i.operands[0].text, find(index_of_, i.operands[1].text));
      note(extent_of_, i.operands[0].text, find(extent_of_, i.operands[1].text));
    } else if (i.operands.size() >= 3 &&
               (i.opcode == "shl" || i.opcode == "mul" || i.opcode == "mad")) {
      multiply(i);
    }
  }

  using AxisOfRegister = std::unordered_map<std::string_view, std::size_t>;

  static void note(AxisOfRegister& axes, std::string_view to, std::optional<std::size_t> axis) {
    if (axis) axes[to] = *axis;
  }

  static std::optional<std::size_t> find(const AxisOfRegister& axes, std::string_view name) {
    const auto found = axes.find(name);
    if (found == axes.end()) return std::nullopt;
    return found->second;
  }

  // The axis of a special register: 1 of "%ctaid.y".
  static std::optional<std::size_t> axis_of(std::string_view source, std::string_view name) {
    if (!source.starts_with(name) || source.size() != name.size() + 2) return std::nullopt;
    if (source[name.size()] != '.') return std::nullopt;
    const std::size_t axis = std::string_view("xyz").find(source.back());
    if (axis == std::string_view::npos) return std::nullopt;
    return axis;
  }

  void multiply(const Instruction& i) {
    for (const auto& [one, other] : {std::pair(1, 2), std::pair(2, 1)}) {
      const auto index = find(index_of_, i.operands[one].text);
      if (index && find(extent_of_, i.operands[other].text) == index) use_.is_tiled[*index] = true;
    }
    // A wide product is an address: its factor has the size of an element in it.
    const InstructionOperand& factor = i.operands[2];
    if (i.has("wide") || factor.kind != InstructionOperand::Kind::kInteger) return;
    const auto index = find(index_of_, i.operands[1].text);
    if (!index) return;
    const std::uint64_t by = factor.bits;
    if (i.opcode == "shl" && by > 12) return;
    const std::uint64_t tile = i.opcode == "shl" ? std::uint64_t{1} << by : by;
    if (tile < 2 || tile > kLargestTile || !std::has_single_bit(tile)) return;
    factors_[*index].insert(static_cast<std::uint32_t>(tile));
    use_.is_tiled[*index] = true;
  }

  BlockUse use_;
  AxisOfRegister index_of_, extent_of_;
  std::array<std::set<std::uint32_t>, 3> factors_;
};

}  // namespace

BlockUse block_use(const ptx::Function& kernel) {
  return BlockUseReader().read(kernel);
}

}  // namespace baton::tools
