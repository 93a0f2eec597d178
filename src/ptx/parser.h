#pragma once

// Recursive descent over the tokens of a module. Depth is bounded: operands and constant
// expressions recurse to kMaxNesting, blocks are kept on an explicit stack up to kMaxBlocks.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ast.h"
#include "ptx/lexer.h"

namespace baton::ptx {

class Parser {
 public:
  static constexpr std::size_t kMaxText = std::size_t{256} << 20;
  static constexpr int kMaxNesting = 64;
  static constexpr std::size_t kMaxBlocks = 256;
  // Of statements and operands: bounds the memory that a dense text such as "a,a,a,…" takes, far
  // above what compilers emit. Initialisers of large tables are at the top level.
  static constexpr std::size_t kMaxNodesOfBody = std::size_t{1} << 22;
  static constexpr std::size_t kMaxNodesOfTop = std::size_t{1} << 24;

  // Fills a module whose name and text are set.
  static void parse_module(ParsedModule& module);
  static Block parse_body(const Function& function);

 private:
  // The value of a constant expression: PTX computes in .s64 and .u64.
  struct Constant {
    std::uint64_t bits = 0;
    bool is_unsigned = false;
  };
  // What a "(" opens: a constant expression, or a parameter list of a call, or, after a name or a
  // mask in an initialiser, what that applies to.
  enum class Context : std::uint8_t { kPlain, kCall, kInitialiser };
  // Counts one level of nesting for as long as it lives.
  class Nesting;

  Parser(Lexer lexer, std::size_t max_nodes);

  // parser.cc: tokens
  Token advance();
  Token peek() const;
  bool accept(char c);
  void expect(char c, std::string_view after);
  std::string_view identifier(std::string_view what);
  std::uint32_t number32(std::string_view what);
  // Counts a statement or an operand.
  void count_node();
  [[noreturn]] void unexpected(std::string_view wanted) const;
  [[noreturn]] void fail(Position position, const std::string& message) const {
    lexer_.fail(position, message);
  }

  // parser_module.cc: the top level
  void header(ParsedModule& module);
  void check_version(const ParsedModule& module) const;
  void top_level(ParsedModule& module);
  void file_entry(ParsedModule& module);
  void section(ParsedModule& module);
  void function(ParsedModule& module, std::string_view linkage);
  Function head(std::string_view linkage);

  // parser_declaration.cc: variables, parameters and what stands between them and a body
  std::vector<Variable> parameters();
  std::vector<std::string_view> attributes();
  std::vector<FunctionDirective> function_directives();
  void check_arity(const FunctionDirective& directive, Position position) const;
  // Everything in front of the name.
  Variable declaration(std::string_view linkage);
  bool declarator(Variable& variable);
  // A whole declaration with all its names: calls `sink` with a Variable for each.
  template <typename Sink>
  void variables(std::string_view linkage, Sink&& sink);
  Directive directive();

  // parser_body.cc: statements
  void statement(std::vector<Statement>& out);
  void labelled(std::vector<Statement>& out, const Token& name);
  void instruction(std::vector<Statement>& out);
  void instruction(std::vector<Statement>& out, Instruction result, const Token& opcode);
  CallPrototype call_prototype(const Token& label);
  TargetList target_list(const Token& label);
  Loc loc();

  // parser_operand.cc: operands and constant expressions
  InstructionOperand operand();
  InstructionOperand name();
  InstructionOperand named_operand();
  InstructionOperand address();
  InstructionOperand sequence(InstructionOperand::Kind kind, char close);
  InstructionOperand call(InstructionOperand callee);
  InstructionOperand float_operand(bool is_signed);
  InstructionOperand constant_operand();
  // The operands from `base` of scratch_ on, taken out of it.
  std::vector<InstructionOperand> take(std::size_t base);
  std::int64_t offset();
  std::int64_t constant(std::string_view what);
  Constant constant_ternary();
  Constant constant_choice(Constant condition);
  Constant constant_unary();
  Constant constant_binary(Constant left, int min_precedence);
  Constant apply(const Token& op, Constant left, Constant right) const;

  Lexer lexer_;
  Token token_;                     // the next one, not yet consumed
  const char* last_end_ = nullptr;  // the end of the one consumed last
  int depth_ = 0;
  std::size_t nodes_left_;
  Context context_ = Context::kPlain;
  std::vector<InstructionOperand> scratch_;  // operands of lists that are still open
  std::vector<std::string_view> modifiers_;
};

// The state space that a directive's name (without the dot) stands for, or kNone.
StateSpace state_space(std::string_view name);
bool is_linkage(std::string_view name);

template <typename Sink>
void Parser::variables(std::string_view linkage, Sink&& sink) {
  const Variable prefix = declaration(linkage);
  do {
    Variable variable = prefix;
    count_node();
    if (declarator(variable)) sink(std::move(variable));
  } while (accept(','));
  expect(';', "the declaration");
}

}  // namespace baton::ptx
