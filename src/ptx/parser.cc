#include "ptx/parser.h"

#include <array>
#include <limits>

namespace baton::ptx {

Parser::Parser(Lexer lexer, std::size_t max_nodes)
    : lexer_(std::move(lexer)), nodes_left_(max_nodes) {
  token_ = lexer_.next();
}

Token Parser::advance() {
  Token consumed = token_;
  last_end_ = consumed.text.data() + consumed.text.size();
  token_ = lexer_.next();
  return consumed;
}

Token Parser::peek() const {
  Lexer ahead = lexer_;
  return ahead.next();
}

bool Parser::accept(char c) {
  if (!token_.is(c)) return false;
  advance();
  return true;
}

void Parser::unexpected(std::string_view wanted) const {
  fail(token_.position, fmt::format("expected {}, but found {}", wanted, describe(token_)));
}

void Parser::expect(char c, std::string_view after) {
  if (!token_.is(c)) unexpected(fmt::format("\"{}\" after {}", c, after));
  advance();
}

std::string_view Parser::identifier(std::string_view what) {
  if (token_.kind != TokenKind::kIdentifier) unexpected(what);
  return advance().text;
}

std::uint32_t Parser::number32(std::string_view what) {
  if (token_.kind != TokenKind::kInteger) unexpected(what);
  if (token_.bits > std::numeric_limits<std::uint32_t>::max()) {
    fail(token_.position,
         fmt::format("{} does not fit 32 bits, as {} must", describe(token_), what));
  }
  return static_cast<std::uint32_t>(advance().bits);
}

void Parser::count_node() {
  if (nodes_left_-- > 0) return;
  fail(token_.position, fmt::format("too many statements and operands: at most {} are read in a "
                                    "function's body, and {} outside of bodies",
                                    kMaxNodesOfBody, kMaxNodesOfTop));
}

StateSpace state_space(std::string_view name) {
  struct Row {
    std::string_view name;
    StateSpace space;
  };
  static constexpr std::array<Row, 7> kSpaces = {{{"reg", StateSpace::kReg},
                                                  {"const", StateSpace::kConst},
                                                  {"global", StateSpace::kGlobal},
                                                  {"local", StateSpace::kLocal},
                                                  {"param", StateSpace::kParam},
                                                  {"shared", StateSpace::kShared},
                                                  {"tex", StateSpace::kTex}}};
  for (const Row& row : kSpaces) {
    if (row.name == name) return row.space;
  }
  return StateSpace::kNone;
}

bool is_linkage(std::string_view name) {
  return name == "visible" || name == "extern" || name == "weak" || name == "common";
}

}  // namespace baton::ptx
