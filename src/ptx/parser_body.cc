// Statements of a function's body.

#include <utility>

#include "ptx/parser.h"

namespace baton::ptx {
namespace {

template <typename Node>
void append(std::vector<Statement>& out, Node&& node) {
  out.push_back(Statement{std::forward<Node>(node)});
}

}  // namespace

Block Parser::parse_body(const Function& function) {
  const ParsedModule& module = *function.module_;
  Parser parser(Lexer(module.text_, module.name_, function.body_text_, function.body_position_),
                kMaxNodesOfBody);
  std::vector<Block> open(1);
  open.back().position = parser.advance().position;
  for (;;) {
    parser.count_node();
    if (parser.token_.is('{')) {
      if (open.size() == kMaxBlocks) {
        parser.fail(parser.token_.position,
                    fmt::format("blocks nest deeper than {} levels", kMaxBlocks));
      }
      open.emplace_back().position = parser.advance().position;
    } else if (parser.token_.is('}')) {
      parser.advance();
      Block closed = std::move(open.back());
      closed.statements.shrink_to_fit();
      open.pop_back();
      if (open.empty()) return closed;
      append(open.back().statements, std::move(closed));
    } else {
      parser.statement(open.back().statements);
    }
  }
}

void Parser::statement(std::vector<Statement>& out) {
  if (token_.kind == TokenKind::kIdentifier) {
    const Token first = advance();
    if (token_.is(':')) return labelled(out, first);
    return instruction(out, {}, first);
  }
  if (token_.is('@')) return instruction(out);
  if (token_.kind != TokenKind::kDot) unexpected("an instruction, a label or a directive");

  if (token_.is_dot("loc")) return append(out, loc());
  const std::string_view name = token_.text.substr(1);
  if (state_space(name) != StateSpace::kNone || is_linkage(name)) {
    const std::string_view linkage = is_linkage(name) ? advance().text.substr(1) : "";
    return variables(linkage, [&](Variable variable) { append(out, std::move(variable)); });
  }
  append(out, directive());
}

// At the ":" after a name: a label, or a list or prototype that it names.
void Parser::labelled(std::vector<Statement>& out, const Token& name) {
  advance();
  if (token_.is_dot("callprototype")) return append(out, call_prototype(name));
  if (token_.is_dot("branchtargets") || token_.is_dot("calltargets")) {
    return append(out, target_list(name));
  }
  append(out, Label{name.position, name.text});
}

// @p or @!p, and the instruction that it guards.
void Parser::instruction(std::vector<Statement>& out) {
  Instruction result;
  result.position = advance().position;
  result.guard_negated = accept('!');
  result.guard = identifier("a predicate register after \"@\"");
  if (token_.kind != TokenKind::kIdentifier) unexpected("an instruction after the guard");
  const Token opcode = advance();
  instruction(out, std::move(result), opcode);
}

void Parser::instruction(std::vector<Statement>& out, Instruction result, const Token& opcode) {
  if (result.guard.empty()) result.position = opcode.position;
  result.opcode = opcode.text;
  modifiers_.clear();
  while (token_.kind == TokenKind::kDot) modifiers_.push_back(advance().text.substr(1));
  result.modifiers.assign(modifiers_.begin(), modifiers_.end());
  if (token_.is('}')) unexpected(fmt::format("\";\" or an operand after \"{}\"", result.opcode));
  if (!token_.is(';')) {
    context_ = result.opcode == "call" ? Context::kCall : Context::kPlain;
    do {
      InstructionOperand next = operand();
      scratch_.push_back(std::move(next));
    } while (accept(','));
    context_ = Context::kPlain;
    result.operands = take(0);
  }
  expect(';', "the instruction");
  append(out, std::move(result));
}

// .callprototype (results) _ (params) directives ;
CallPrototype Parser::call_prototype(const Token& label) {
  advance();
  CallPrototype result;
  result.position = label.position;
  result.name = label.text;
  result.results = parameters();
  if (!token_.is_identifier("_")) unexpected("\"_\" in place of a name");
  advance();
  result.params = parameters();
  result.directives = function_directives();
  for (const FunctionDirective& directive : result.directives) {
    if (directive.name == "noreturn") result.no_return = true;
  }
  expect(';', "the prototype");
  return result;
}

TargetList Parser::target_list(const Token& label) {
  TargetList result;
  result.position = label.position;
  result.name = label.text;
  result.calls = advance().text == ".calltargets";
  do {
    result.targets.push_back(identifier(result.calls ? "a function" : "a label"));
  } while (accept(','));
  expect(';', "the targets");
  return result;
}

// .loc 1 20 3, function_name label + 4, inlined_at 1 9 2
Loc Parser::loc() {
  Loc result;
  result.position = advance().position;
  result.file = number32("a file index");
  result.line = number32("a line");
  result.column = number32("a column");
  if (!accept(',')) return result;
  Loc::Inlined inlined;
  if (!token_.is_identifier("function_name")) unexpected("\"function_name\"");
  advance();
  inlined.function_label = identifier("the label of the function's name");
  inlined.offset = offset();
  expect(',', "the function's name");
  if (!token_.is_identifier("inlined_at")) unexpected("\"inlined_at\"");
  advance();
  inlined.file = number32("a file index");
  inlined.line = number32("a line");
  inlined.column = number32("a column");
  result.inlined = inlined;
  return result;
}

}  // namespace baton::ptx
