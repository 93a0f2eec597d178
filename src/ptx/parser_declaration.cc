// Variables, parameters, and the directives between a function's head and its body.

#include <array>
#include <utility>

#include "ptx/parser.h"

namespace baton::ptx {
namespace {

std::uint8_t vector_size(std::string_view name) {
  if (name == "v2") return 2;
  if (name == "v4") return 4;
  if (name == "v8") return 8;
  return 0;
}

// How many integers a directive takes (PTX ISA 9.0, "Performance-Tuning Directives", "Cluster
// Dimension Directives").
struct Arity {
  std::string_view name;
  std::size_t least;
  std::size_t most;
};
constexpr std::array<Arity, 12> kArities = {{{"maxntid", 1, 3},
                                             {"reqntid", 1, 3},
                                             {"minnctapersm", 1, 1},
                                             {"maxnctapersm", 1, 1},
                                             {"maxnreg", 1, 1},
                                             {"reqnctapercluster", 1, 3},
                                             {"maxclusterrank", 1, 1},
                                             {"explicitcluster", 0, 0},
                                             {"blocksareclusters", 0, 0},
                                             {"noreturn", 0, 0},
                                             {"abi_preserve", 1, 1},
                                             {"abi_preserve_control", 1, 1}}};

}  // namespace

// .attribute(.managed, .unified(1, 2)): each as written, without its dot.
std::vector<std::string_view> Parser::attributes() {
  std::vector<std::string_view> result;
  expect('(', "\".attribute\"");
  do {
    if (token_.kind != TokenKind::kDot) unexpected("an attribute such as \".managed\"");
    const char* const begin = advance().text.data() + 1;
    if (accept('(')) {
      do {
        constant("an integer");
      } while (accept(','));
      expect(')', "the attribute's values");
    }
    result.emplace_back(begin, static_cast<std::size_t>(last_end_ - begin));
  } while (accept(','));
  expect(')', "the attributes");
  return result;
}

Variable Parser::declaration(std::string_view linkage) {
  Variable result;
  result.linkage = linkage;
  result.position = token_.position;
  if (token_.kind == TokenKind::kDot) result.space = state_space(token_.text.substr(1));
  if (result.space == StateSpace::kNone) unexpected("a state space such as \".global\"");
  advance();
  while (token_.kind == TokenKind::kDot) {
    const Token token = advance();
    const std::string_view name = token.text.substr(1);
    if (name == "align") {
      const Position position = token_.position;
      const std::uint32_t align = number32("an alignment");
      if (align == 0 || (align & (align - 1)) != 0) {
        fail(position, fmt::format("an alignment must be a power of two, not {}", align));
      }
      (result.is_pointer ? result.pointer_align : result.align) = align;
    } else if (name == "attribute") {
      result.attributes = attributes();
    } else if (name == "ptr") {
      result.is_pointer = true;
    } else if (result.is_pointer && state_space(name) != StateSpace::kNone) {
      result.pointer_space = state_space(name);
    } else if (vector_size(name) != 0 && result.type.empty()) {
      result.vector = vector_size(name);
    } else if (result.type.empty() && state_space(name) == StateSpace::kNone) {
      result.type = name;
    } else {
      fail(token.position, fmt::format("expected a name, but found {}", describe(token)));
    }
  }
  if (result.type.empty()) unexpected("a type such as \".b32\"");
  return result;
}

// The name of a declaration and all that belongs to it alone: count, extents, initialiser. False
// where that declares nothing: "%r<0>".
bool Parser::declarator(Variable& variable) {
  bool declares = true;
  variable.position = token_.position;
  variable.name = identifier("a name");
  if (variable.name == "_") variable.name = {};
  if (token_.is('<')) {
    advance();
    variable.range = number32("the number of registers");
    declares = variable.range != 0;
    expect('>', "the number of registers");
  }
  while (accept('[')) {
    if (accept(']')) {
      variable.extents.push_back(-1);
      continue;
    }
    const Position position = token_.position;
    variable.extents.push_back(constant("an array's size"));
    if (variable.extents.back() < 0) fail(position, "an array's size must not be negative");
    expect(']', "the array's size");
  }
  if (accept('=')) {
    const Context outer = std::exchange(context_, Context::kInitialiser);
    variable.initialiser.push_back(operand());
    context_ = outer;
  }
  return declares;
}

// (.param .b32 a, .reg .u32 b, …), or nothing at all.
std::vector<Variable> Parser::parameters() {
  std::vector<Variable> result;
  if (!accept('(')) return result;
  if (accept(')')) return result;
  do {
    const Position position = token_.position;
    Variable variable = declaration({});
    if (variable.space != StateSpace::kParam && variable.space != StateSpace::kReg) {
      fail(position, "a parameter must be in .param or .reg");
    }
    if (!declarator(variable) || variable.range != 0) {
      fail(variable.position, "a parameter is one name, without a count");
    }
    result.push_back(std::move(variable));
  } while (accept(','));
  expect(')', "the parameters");
  return result;
}

void Parser::check_arity(const FunctionDirective& directive, Position position) const {
  for (const Arity& arity : kArities) {
    if (arity.name != directive.name) continue;
    if (directive.operands.size() < arity.least || directive.operands.size() > arity.most) {
      const std::string range = arity.least == arity.most ? "" : fmt::format("{} to ", arity.least);
      fail(position, fmt::format("\".{}\" takes {}{} integers, but has {}", arity.name, range,
                                 arity.most, directive.operands.size()));
    }
    for (const InstructionOperand& operand : directive.operands) {
      if (operand.kind != InstructionOperand::Kind::kInteger || (operand.bits >> 63) != 0) {
        fail(operand.position,
             fmt::format("\".{}\" takes integers that are not negative", arity.name));
      }
    }
  }
}

std::vector<FunctionDirective> Parser::function_directives() {
  std::vector<FunctionDirective> result;
  while (token_.kind == TokenKind::kDot) {
    const Token name = advance();
    FunctionDirective directive;
    directive.name = name.text.substr(1);
    if (token_.kind != TokenKind::kDot && !token_.is('{') && !token_.is(';')) {
      const std::size_t base = scratch_.size();
      do {
        scratch_.push_back(operand());
      } while (accept(','));
      directive.operands = take(base);
    }
    check_arity(directive, name.position);
    // Alone among these, a pragma is a statement of its own.
    if (directive.name == "pragma") expect(';', "the pragma");
    result.push_back(std::move(directive));
  }
  return result;
}

// .name operands ;
Directive Parser::directive() {
  Directive result;
  result.position = token_.position;
  result.name = advance().text.substr(1);
  const Context outer = std::exchange(context_, Context::kInitialiser);
  if (!token_.is(';')) {
    const std::size_t base = scratch_.size();
    do {
      scratch_.push_back(operand());
    } while (accept(','));
    result.operands = take(base);
  }
  context_ = outer;
  expect(';', fmt::format("the directive \".{}\"", result.name));
  return result;
}

}  // namespace baton::ptx
