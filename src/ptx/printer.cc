#include "ptx/printer.h"

#include <fmt/core.h>

#include <iterator>
#include <string_view>

namespace baton::ptx {
namespace {

std::string_view to_string(StateSpace space) {
  switch (space) {
    case StateSpace::kReg:
      return "reg";
    case StateSpace::kConst:
      return "const";
    case StateSpace::kGlobal:
      return "global";
    case StateSpace::kLocal:
      return "local";
    case StateSpace::kParam:
      return "param";
    case StateSpace::kShared:
      return "shared";
    case StateSpace::kTex:
      return "tex";
    case StateSpace::kNone:
      break;
  }
  return "";
}

class Printer {
 public:
  Printer() = default;
  explicit Printer(const Renaming& renaming) : renaming_(&renaming) {}

  std::string take() { return std::move(out_); }

  void module(const ParsedModule& module) {
    put(".version {}.{}\n.target ", module.version_major(), module.version_minor());
    list(module.targets(), [&](std::string_view target) { out_ += target; });
    put("\n.address_size {}\n\n", module.address_size());
    for (const TopLevel& item : module.items()) {
      std::visit([&](const auto& node) { top_level(node); }, item);
      out_ += '\n';
    }
  }

  void statement(const Statement& statement) {
    std::visit([&](const auto& node) { this->node(node); }, statement.node);
  }

  void node(const Instruction& instruction) {
    if (!instruction.guard.empty()) {
      put("@{}{} ", instruction.guard_negated ? "!" : "", name(instruction.guard));
    }
    out_ += instruction.opcode;
    for (std::string_view modifier : instruction.modifiers) put(".{}", modifier);
    if (!instruction.operands.empty()) {
      out_ += ' ';
      operands(instruction.operands);
    }
    out_ += ';';
  }

  void node(const Label& label) { put("{}:", name(label.name)); }

  void node(const Loc& loc) {
    put(".loc {} {} {}", first_file() + loc.file, loc.line, loc.column);
    if (!loc.inlined) return;
    const Loc::Inlined& inlined = *loc.inlined;
    put(", function_name {}", name(inlined.function_label));
    offset(inlined.offset);
    put(", inlined_at {} {} {}", first_file() + inlined.file, inlined.line, inlined.column);
  }

  void node(const Variable& variable) {
    declaration(variable);
    out_ += ';';
  }

  void node(const CallPrototype& prototype) {
    put("{}: .callprototype ", name(prototype.name));
    parameters(prototype.results);
    out_ += " _ ";
    parameters(prototype.params);
    directives(prototype.directives);
    out_ += ';';
  }

  void node(const TargetList& targets) {
    put("{}: .{} ", name(targets.name), targets.calls ? "calltargets" : "branchtargets");
    list(targets.targets, [&](std::string_view target) { out_ += name(target); });
    out_ += ';';
  }

  void node(const Directive& directive) {
    put(".{}", directive.name);
    if (!directive.operands.empty()) {
      out_ += ' ';
      operands(directive.operands);
    }
    out_ += ';';
  }

  void node(const Block& block) {
    out_ += "{\n";
    ++depth_;
    for (const Statement& inner : block.statements) {
      const bool is_label = std::holds_alternative<Label>(inner.node);
      out_.append(is_label ? depth_ - 1 : depth_, '\t');
      statement(inner);
      out_ += '\n';
    }
    --depth_;
    out_.append(depth_, '\t');
    out_ += '}';
  }

  void operand(const InstructionOperand& operand) {
    if (operand.negated) out_ += operand.is_minus ? '-' : '!';
    switch (operand.kind) {
      case InstructionOperand::Kind::kIdentifier:
        out_ += name(operand.text);
        break;
      case InstructionOperand::Kind::kInteger:
        number(operand, "{}", static_cast<std::int64_t>(operand.bits));
        break;
      case InstructionOperand::Kind::kFloat:
        if (operand.is_single) {
          number(operand, "0f{:08X}", operand.bits);
        } else {
          number(operand, "0d{:016X}", operand.bits);
        }
        break;
      case InstructionOperand::Kind::kString:
        put("\"{}\"", operand.text);
        break;
      case InstructionOperand::Kind::kAddress:
        address(operand);
        return;
      case InstructionOperand::Kind::kVector:
        bracketed('{', operand, '}');
        break;
      case InstructionOperand::Kind::kGroup:
        bracketed('(', operand, ')');
        break;
      case InstructionOperand::Kind::kPair:
        this->operand(operand.children.at(0));
        out_ += '|';
        this->operand(operand.children.at(1));
        break;
      case InstructionOperand::Kind::kCall:
        out_ += operand.text;
        bracketed('(', operand, ')');
        break;
      case InstructionOperand::Kind::kField:
        put("{} = ", operand.text);
        this->operand(operand.children.at(0));
        break;
    }
    offset(operand.offset);
  }

  void declaration(const Variable& variable) {
    if (!variable.linkage.empty()) put(".{} ", variable.linkage);
    put(".{}", to_string(variable.space));
    attributes(variable.attributes);
    if (variable.align != 0) put(" .align {}", variable.align);
    if (variable.vector > 1) put(" .v{}", variable.vector);
    put(" .{}", variable.type);
    if (variable.is_pointer) {
      out_ += " .ptr";
      if (variable.pointer_space != StateSpace::kNone) {
        put(" .{}", to_string(variable.pointer_space));
      }
      if (variable.pointer_align != 0) put(" .align {}", variable.pointer_align);
    }
    put(" {}", variable.name.empty() ? "_" : name(variable.name));
    if (variable.range != 0) put("<{}>", variable.range);
    for (std::int64_t extent : variable.extents) {
      if (extent < 0) {
        out_ += "[]";
      } else {
        put("[{}]", extent);
      }
    }
    if (!variable.initialiser.empty()) {
      out_ += " = ";
      operands(variable.initialiser);
    }
  }

  void top_level(const Variable& variable) { node(variable); }
  void top_level(const Directive& directive) { node(directive); }

  void top_level(const FileEntry& file) {
    put(".file {} \"{}\"", file.index, file.name);
    for (const InstructionOperand& each : file.extra) {
      out_ += ", ";
      operand(each);
    }
  }

  void top_level(const Section& section) { put(".section {} {}", section.name, section.text); }

  void top_level(const Function& function) {
    head(function);
    if (!function.has_body) {
      out_ += ';';
      return;
    }
    out_ += '\n';
    node(function.body());
    out_ += '\n';
  }

  void head(const Function& function) {
    if (!function.linkage.empty()) put(".{} ", function.linkage);
    out_ += function.is_entry ? ".entry" : ".func";
    attributes(function.attributes);
    out_ += ' ';
    if (!function.results.empty()) {
      parameters(function.results);
      out_ += ' ';
    }
    out_ += name(function.name);
    parameters(function.params);
    directives(function.directives);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  template <typename Range, typename Each>
  void list(const Range& range, Each&& each) {
    bool is_first = true;
    for (const auto& element : range) {
      if (!is_first) out_ += ", ";
      is_first = false;
      each(element);
    }
  }

  void operands(const std::vector<InstructionOperand>& operands) {
    list(operands, [&](const InstructionOperand& each) { operand(each); });
  }

  void bracketed(char open, const InstructionOperand& operand, char close) {
    out_ += open;
    operands(operand.children);
    out_ += close;
  }

  // As it was written, or, in a tree that was made, from its value.
  template <typename T>
  void number(const InstructionOperand& operand, fmt::format_string<T> format, T value) {
    if (operand.text.empty()) {
      put(format, std::move(value));
    } else {
      out_ += operand.text;
    }
  }

  // PTX knows no "-4" after a name: "+-4".
  void offset(std::int64_t value) {
    if (value != 0) put("+{}", value);
  }

  void address(const InstructionOperand& operand) {
    out_ += '[';
    bool is_first = true;
    list(operand.children, [&](const InstructionOperand& each) {
      this->operand(each);
      if (is_first) offset(operand.offset);
      is_first = false;
    });
    out_ += ']';
  }

  void attributes(const std::vector<std::string_view>& names) {
    if (names.empty()) return;
    out_ += " .attribute(";
    list(names, [&](std::string_view name) { put(".{}", name); });
    out_ += ')';
  }

  void parameters(const std::vector<Variable>& variables) {
    out_ += '(';
    list(variables, [&](const Variable& each) { declaration(each); });
    out_ += ')';
  }

  void directives(const std::vector<FunctionDirective>& names) {
    for (const FunctionDirective& directive : names) {
      put(" .{}", directive.name);
      if (!directive.operands.empty()) {
        out_ += ' ';
        operands(directive.operands);
      }
      if (directive.name == "pragma") out_ += ';';
    }
  }

  std::string_view name(std::string_view written) const {
    if (renaming_ == nullptr) return written;
    const auto renamed = renaming_->names.find(written);
    return renamed == renaming_->names.end() ? written : std::string_view(renamed->second);
  }

  std::uint32_t first_file() const { return renaming_ == nullptr ? 0 : renaming_->first_file; }

  const Renaming* renaming_ = nullptr;
  std::string out_;
  std::size_t depth_ = 0;
};

template <typename Node>
std::string print_node(const Node& node) {
  Printer printer;
  printer.node(node);
  return printer.take();
}

}  // namespace

std::string print(const ParsedModule& module) {
  Printer printer;
  printer.module(module);
  return printer.take();
}

std::string print(const Statement& statement) {
  Printer printer;
  printer.statement(statement);
  return printer.take();
}

std::string print(const Instruction& instruction) {
  return print_node(instruction);
}
std::string print(const Variable& variable) {
  return print_node(variable);
}

std::string print(const InstructionOperand& operand) {
  Printer printer;
  printer.operand(operand);
  return printer.take();
}

std::string print(const Variable& variable, const Renaming& renaming) {
  Printer printer(renaming);
  printer.node(variable);
  return printer.take();
}

std::string print(const Directive& directive, const Renaming& renaming) {
  Printer printer(renaming);
  printer.node(directive);
  return printer.take();
}

std::string print(const Function& function, const Renaming& renaming) {
  Printer printer(renaming);
  printer.top_level(function);
  return printer.take();
}

std::string print_head(const Function& function, const Renaming& renaming) {
  Printer printer(renaming);
  printer.head(function);
  return printer.take() + ";";
}

}  // namespace baton::ptx
