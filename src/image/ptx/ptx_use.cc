#include "image/ptx/ptx_use.h"

#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "image/ptx/ptx_types.h"
#include "ptx/isa.h"

namespace baton::image {
namespace {

using ptx::Instruction;
using ptx::InstructionOperand;

// What a register holds.
struct ValueOrigin {
  enum class Kind : std::uint8_t {
    kOther,
    kValue,    // the parameter itself
    kSum,      // the parameter plus something: an address, if it is used as one
    kAddress,  // an address for certain; of a parameter, or of a variable (param < 0)
  };
  Kind kind = Kind::kOther;
  int param = -1;
};

// Registers by name, in the block that declares them. What no inner block declares belongs to the
// function's own block.
class Scopes {
 public:
  void enter() { inner_.emplace_back(); }
  void leave() { inner_.pop_back(); }

  void declare(const ptx::Variable& variable) {
    if (inner_.empty()) return;
    Declared& declared = inner_.back();
    (variable.range != 0 ? declared.ranges : declared.origins)[variable.name];
  }

  ValueOrigin& operator[](std::string_view name) {
    for (auto scope = inner_.rbegin(); scope != inner_.rend(); ++scope) {
      if (scope->declares(name)) return scope->origins[name];
    }
    return outer_[name];
  }

 private:
  struct Declared {
    std::unordered_map<std::string_view, ValueOrigin> origins;
    std::unordered_map<std::string_view, ValueOrigin> ranges;  // prefixes of %r<N>

    bool declares(std::string_view name) const {
      if (origins.contains(name)) return true;
      if (ranges.empty()) return false;
      const std::size_t digits = name.find_last_not_of("0123456789");
      return digits != std::string_view::npos && ranges.contains(name.substr(0, digits + 1));
    }
  };
  std::unordered_map<std::string_view, ValueOrigin> outer_;
  std::vector<Declared> inner_;
};

bool is_register(const InstructionOperand& operand) {
  return operand.kind == InstructionOperand::Kind::kIdentifier && operand.text.starts_with('%');
}

// Operations on 64 bits that show a number: addresses are added, compared and masked, not these.
bool is_arithmetic(std::string_view opcode) {
  for (std::string_view name : {"mul", "mad", "div", "rem", "min", "max", "shl", "shr", "cvt",
                                "abs", "neg", "mul24", "mad24"}) {
    if (opcode == name) return true;
  }
  return false;
}

class UseFinder {
 public:
  explicit UseFinder(const ptx::Function& kernel) : uses_(kernel.params.size()) {
    for (std::size_t i = 0; i < kernel.params.size(); ++i) {
      params_.emplace(kernel.params[i].name, static_cast<int>(i));
    }
    block(kernel.body());
  }

  std::vector<ParamUse> take() { return std::move(uses_); }

 private:
  void block(const ptx::Block& block_node) {
    for (const ptx::Statement& statement : block_node.statements) {
      if (const auto* i = std::get_if<Instruction>(&statement.node)) {
        instruction(*i);
      } else if (const auto* variable = std::get_if<ptx::Variable>(&statement.node)) {
        scopes_.declare(*variable);
      } else if (const auto* inner = std::get_if<ptx::Block>(&statement.node)) {
        scopes_.enter();
        block(*inner);
        scopes_.leave();
      }
    }
  }

  void instruction(const Instruction& i) {
    if (i.operands.empty()) return;
    const bool is_copy = i.opcode == "cp" && i.has("global") && !i.has("tensor");
    const bool touches_memory_of_params =
        is_copy || !(i.has("shared") || i.has("local") || i.has("param"));
    for (std::size_t k = 0; touches_memory_of_params && k < i.operands.size(); ++k) {
      address(i, i.operands[k], is_copy ? copied(i, k) : accessed(i));
    }
    if (i.opcode == "call") return call(i);

    const bool writes = ptx::writes_operand(i, 0);
    if (i.opcode == "ld" && i.has("param")) return load_param(i);
    ValueOrigin result;
    if (i.opcode == "mov" && i.operands.size() == 2) {
      result = moved(i.operands[1]);
    } else if (i.opcode == "cvta" && i.operands.size() == 2) {
      result = converted_address(i.operands[1]);
    } else if ((i.opcode == "add" || i.opcode == "sub") && i.operands.size() == 3 && is_wide(i)) {
      result =
          sum(origin(i.operands[1]), i.opcode == "add" ? origin(i.operands[2]) : ValueOrigin{});
    } else if (i.opcode == "mad" && i.operands.size() == 4 && (i.has("wide") || is_wide(i))) {
      for (std::size_t k : {1, 2}) evidence(i, i.operands[k]);
      result = sum(origin(i.operands[3]), ValueOrigin{});
    } else {
      for (std::size_t k = writes ? 1 : 0; k < i.operands.size(); ++k) evidence(i, i.operands[k]);
    }
    if (writes) assign(i.operands[0], result);
  }

  static bool is_wide(const Instruction& i) { return i.has("s64") || i.has("u64") || i.has("b64"); }

  ValueOrigin origin(const InstructionOperand& operand) {
    return is_register(operand) ? scopes_[operand.text] : ValueOrigin{};
  }

  void assign(const InstructionOperand& destination, ValueOrigin value) {
    if (is_register(destination) || destination.kind == InstructionOperand::Kind::kIdentifier) {
      scopes_[destination.text] = value;
      return;
    }
    if (destination.kind == InstructionOperand::Kind::kAddress) return;
    for (const InstructionOperand& child : destination.children) assign(child, ValueOrigin{});
  }

  // ld.param of a kernel parameter. Only whole scalars and 2-byte structs (half, bfloat16) are
  // followed.
  void load_param(const Instruction& i) {
    ValueOrigin loaded;
    if (i.operands.size() == 2 && i.operands[1].kind == InstructionOperand::Kind::kAddress &&
        i.operands[1].offset == 0 && !i.operands[1].children.empty()) {
      const auto found = params_.find(i.operands[1].children[0].text);
      if (found != params_.end()) {
        loaded = {ValueOrigin::Kind::kValue, found->second};
        const auto type = i.modifiers.empty() ? std::nullopt : ptx_type(i.modifiers.back());
        if (type && type->of == PtxType::Class::kFloat && type->dtype) {
          as_float(found->second, *type->dtype);
        }
      }
    }
    assign(i.operands[0], loaded);
  }

  ValueOrigin moved(const InstructionOperand& source) {
    if (is_register(source)) return scopes_[source.text];
    if (source.kind == InstructionOperand::Kind::kIdentifier) {
      const ValueOrigin local = scopes_[source.text];  // registers of inline assembly have no '%'
      if (local.kind != ValueOrigin::Kind::kOther) return local;
      if (!params_.contains(source.text)) return {ValueOrigin::Kind::kAddress, -1};
    }
    return {};
  }

  ValueOrigin converted_address(const InstructionOperand& source) {
    const ValueOrigin from = origin(source);
    if (from.param >= 0) uses_[static_cast<std::size_t>(from.param)].as_pointer = true;
    return {ValueOrigin::Kind::kAddress, from.param};
  }

  ValueOrigin sum(ValueOrigin a, ValueOrigin b) {
    if (b.kind == ValueOrigin::Kind::kAddress) std::swap(a, b);
    if (a.kind == ValueOrigin::Kind::kAddress) {
      if (b.param >= 0 && b.kind != ValueOrigin::Kind::kAddress) {
        uses_[static_cast<std::size_t>(b.param)].as_integer = true;
      }
      return a;
    }
    if (a.param >= 0 && b.param >= 0) return {};
    const int param = a.param >= 0 ? a.param : b.param;
    return {param >= 0 ? ValueOrigin::Kind::kSum : ValueOrigin::Kind::kOther, param};
  }

  struct Accessed {
    bool reads = false, writes = false;
  };

  static Accessed accessed(const Instruction& i) {
    const bool is_atomic = i.opcode == "atom" || i.opcode == "red";
    const bool is_matrix = i.opcode == "wmma";
    return {is_atomic || i.opcode == "ld" || i.opcode == "ldu" || (is_matrix && i.has("load")),
            is_atomic || i.opcode == "st" || (is_matrix && i.has("store"))};
  }

  // A copy names where it writes, and then where it reads.
  static Accessed copied(const Instruction& i, std::size_t operand) {
    return {operand > 0 || i.has("reduce"), operand == 0};
  }

  void address(const Instruction& i, const InstructionOperand& operand, Accessed how) {
    if (operand.kind != InstructionOperand::Kind::kAddress || operand.children.empty()) return;
    const ValueOrigin base = origin(operand.children[0]);
    if (base.param < 0) return;
    ParamUse& use = uses_[static_cast<std::size_t>(base.param)];
    use.as_pointer = true;
    use.reads |= how.reads;
    use.writes |= how.writes;
    const auto type = i.modifiers.empty() ? std::nullopt : ptx_type(i.modifiers.back());
    if (type && !use.element) use.element = type->dtype;
  }

  // call (results), callee, (arguments), prototype
  void call(const Instruction& i) {
    for (const InstructionOperand& operand : i.operands) {
      const ValueOrigin callee = origin(operand);
      if (callee.kind == ValueOrigin::Kind::kValue) {
        uses_[static_cast<std::size_t>(callee.param)].as_pointer = true;
      }
    }
  }

  void as_float(int param, DType dtype) {
    ParamUse& use = uses_[static_cast<std::size_t>(param)];
    if (use.as_float && *use.as_float != dtype) use.floats_differ = true;
    use.as_float = dtype;
  }

  // What instruction `i` shows about its source operand.
  void evidence(const Instruction& i, const InstructionOperand& operand) {
    if (operand.kind == InstructionOperand::Kind::kVector ||
        operand.kind == InstructionOperand::Kind::kGroup) {
      for (const InstructionOperand& child : operand.children) evidence(i, child);
      return;
    }
    if (operand.kind != InstructionOperand::Kind::kIdentifier || i.modifiers.empty()) return;
    const ValueOrigin from = scopes_[operand.text];
    if (from.param < 0 || from.kind == ValueOrigin::Kind::kAddress) return;
    ParamUse& use = uses_[static_cast<std::size_t>(from.param)];
    const std::optional<PtxType> type = ptx_type(i.modifiers.back());
    if (is_arithmetic(i.opcode) && !is_narrowing(i)) use.as_integer = true;
    if (!type || from.kind != ValueOrigin::Kind::kValue) return;
    switch (type->of) {
      case PtxType::Class::kUntyped:
        return;
      case PtxType::Class::kFloat:
        if (type->dtype && i.opcode != "mov" && i.opcode != "selp")
          as_float(from.param, *type->dtype);
        return;
      case PtxType::Class::kSigned:
      case PtxType::Class::kUnsigned:
        return sign(i, type->of == PtxType::Class::kSigned, use);
    }
  }

  // cvt between integers to a type no wider takes low bits, whatever they are.
  static bool is_narrowing(const Instruction& i) {
    if (i.opcode != "cvt" || i.modifiers.size() < 2) return false;
    const auto to = ptx_type(i.modifiers[i.modifiers.size() - 2]);
    const auto from = ptx_type(i.modifiers.back());
    return to && from && to->of != PtxType::Class::kFloat && to->size <= from->size;
  }

  // The low bits of sums, products and shifts to the left are the same for both signs, and
  // compilers write .s32 or .u32 as they like.
  void sign(const Instruction& i, bool is_signed, ParamUse& use) {
    bool tells = false;
    bool unclear = false;
    if (i.opcode == "setp" || i.opcode == "set") {
      tells = !(i.has("eq") || i.has("ne"));
      // "0 <= n && n < 6" is compiled to one unsigned comparison.
      unclear = i.operands.back().kind == InstructionOperand::Kind::kInteger;
    } else if (i.opcode == "shr") {
      tells = true;
      unclear = true;  // the sign bit of a signed number is taken out by an unsigned shift
    } else if (i.opcode == "mul" || i.opcode == "mad") {
      tells = i.has("wide") || i.has("hi");
    } else if (i.opcode == "cvt") {
      tells = !is_narrowing(i);
    } else if (i.opcode == "div" || i.opcode == "rem" || i.opcode == "min" || i.opcode == "max") {
      tells = true;
    } else if (i.opcode == "abs") {
      tells = true;
    }
    if (!tells) return;
    if (is_signed) {
      use.as_signed = true;
    } else if (unclear) {
      use.sign_unclear = true;
    } else {
      use.as_unsigned = true;
    }
  }

  std::vector<ParamUse> uses_;
  std::unordered_map<std::string_view, int> params_;
  Scopes scopes_;
};

}  // namespace

std::vector<ParamUse> param_uses(const ptx::Function& kernel) {
  return UseFinder(kernel).take();
}

}  // namespace baton::image
