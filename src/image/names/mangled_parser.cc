#include "image/names/mangled_parser.h"

#include <array>
#include <utility>

namespace baton::image {
namespace {

using Kind = MangledNode::Kind;

// The builtin types that have a letter of their own.
constexpr std::pair<char, std::string_view> kBuiltins[] = {
    {'v', "void"},         {'w', "wchar_t"},        {'b', "bool"},
    {'c', "char"},         {'a', "signed char"},    {'h', "unsigned char"},
    {'s', "short"},        {'t', "unsigned short"}, {'i', "int"},
    {'j', "unsigned int"}, {'l', "long"},           {'m', "unsigned long"},
    {'x', "long long"},    {'n', "__int128"},       {'y', "unsigned long long"},
    {'f', "float"},        {'d', "double"},         {'o', "unsigned __int128"},
    {'e', "long double"},  {'g', "__float128"},     {'z', "..."},
};

constexpr std::pair<std::string_view, std::string_view> kOperators[] = {
    {"cl", "operator()"}, {"ix", "operator[]"}, {"pl", "operator+"}, {"mi", "operator-"},
    {"ml", "operator*"},  {"dv", "operator/"},  {"aS", "operator="}, {"eq", "operator=="},
    {"ne", "operator!="}, {"lt", "operator<"},  {"gt", "operator>"},
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

class MangledParser::Nesting {
 public:
  explicit Nesting(int& depth) : depth_(depth) {
    if (++depth_ > kMaxDepth) throw Unreadable{};
  }
  ~Nesting() { --depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int& depth_;
};

char MangledParser::peek(std::size_t ahead) const {
  return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
}

bool MangledParser::accept(std::string_view token) {
  if (!text_.substr(position_).starts_with(token)) return false;
  position_ += token.size();
  return true;
}

void MangledParser::expect(char c) {
  if (peek() != c || at_end()) throw Unreadable{};
  ++position_;
}

std::size_t MangledParser::number() {
  if (!is_digit(peek())) throw Unreadable{};
  std::size_t value = 0;
  while (is_digit(peek())) {
    value = value * 10 + static_cast<std::size_t>(text_[position_++] - '0');
    if (value > text_.size() + (std::size_t{1} << 31)) throw Unreadable{};
  }
  return value;
}

// "_" is 0, "0_" is 1, "1_" is 2; in base 36 with digits and capitals.
std::size_t MangledParser::sequence_number() {
  if (accept("_")) return 0;
  std::size_t value = 0;
  while (!accept("_")) {
    const char c = peek();
    if (is_digit(c)) {
      value = value * 36 + static_cast<std::size_t>(c - '0');
    } else if (c >= 'A' && c <= 'Z') {
      value = value * 36 + static_cast<std::size_t>(c - 'A') + 10;
    } else {
      throw Unreadable{};
    }
    if (value > text_.size()) throw Unreadable{};
    ++position_;
  }
  return value + 1;
}

MangledParser::Node MangledParser::make(Kind kind, std::string text, std::vector<Node> children) {
  nodes_.push_back({kind, std::move(text), std::move(children)});
  return &nodes_.back();
}

MangledParser::Node MangledParser::remember(Node node) {
  substitutions_.push_back(node);
  return node;
}

const MangledNode* MangledParser::resolve(const MangledNode* node) {
  while (node->kind == Kind::kTemplateParam) node = node->children[0];
  return node;
}

MangledParser::Encoding MangledParser::parse() {
  if (!accept("_Z")) throw Unreadable{};
  Encoding result = encoding();
  // What a compiler appends to a clone of a function: "_Z1kPi.part.0", "$name".
  if (!at_end() && peek() != '.' && peek() != '$') throw Unreadable{};
  return result;
}

MangledParser::Encoding MangledParser::encoding() {
  const Nesting nesting(depth_);
  Encoding result;
  bool is_template = false;
  result.name = name(&is_template);
  const char next = peek();
  if (at_end() || next == 'E' || next == '.' || next == '$') return result;
  result.is_function = true;
  if (is_template) result.result = type();
  signature(result.params, "E.$");
  return result;
}

// Types up to the end or one of `stops`, which is left; "v" alone is an empty list.
void MangledParser::signature(std::vector<Node>& out, std::string_view stops) {
  const auto done = [&] { return at_end() || stops.find(peek()) != std::string_view::npos; };
  while (!done()) out.push_back(type());
  if (out.empty()) throw Unreadable{};
  if (out.size() == 1 && out[0]->kind == Kind::kBuiltin && out[0]->text == "void") out.clear();
}

MangledParser::Node MangledParser::name(bool* is_template) {
  const Nesting nesting(depth_);
  *is_template = false;
  if (accept("N")) return nested_name(is_template);
  if (accept("Z")) return local_name(is_template);
  Node node;
  if (peek() == 'S' && peek(1) != 't') {
    node = substitution();
    if (peek() != 'I') return node;
  } else {
    if (accept("St")) {
      node = make(Kind::kNested, "", {make(Kind::kName, "std"), unqualified_name()});
    } else {
      node = unqualified_name();
    }
    if (peek() != 'I') return node;
    remember(node);
  }
  *is_template = true;
  return template_args(node);
}

MangledParser::Node MangledParser::nested_name(bool* is_template) {
  while (accept("r") || accept("V") || accept("K")) {
  }
  if (peek() == 'R' || peek() == 'O') ++position_;
  Node node = nullptr;
  while (!accept("E")) {
    if (at_end()) throw Unreadable{};
    *is_template = false;
    if (peek() == 'I') {
      if (node == nullptr) throw Unreadable{};
      node = template_args(node);
      *is_template = true;
    } else if (peek() == 'S' && peek(1) == 't' && node == nullptr) {
      position_ += 2;
      node = make(Kind::kName, "std");
      continue;
    } else if (peek() == 'S') {
      if (node != nullptr) throw Unreadable{};
      node = substitution();
      continue;
    } else if (peek() == 'T') {
      if (node != nullptr) throw Unreadable{};
      node = template_param();
    } else {
      const Node last = unqualified_name();
      node = node == nullptr ? last : make(Kind::kNested, "", {node, last});
    }
    // The whole name is not a substitution candidate, only its prefixes; as a type it is added
    // again.
    if (peek() != 'E') remember(node);
  }
  if (node == nullptr) throw Unreadable{};
  return node;
}

// Z <function> E <entity> [discriminator]
MangledParser::Node MangledParser::local_name(bool* is_template) {
  // The function has template arguments of its own.
  std::vector<Node> outer_args = std::exchange(template_args_, {});
  const int outer_depth = std::exchange(type_depth_, 0);
  const Encoding function = encoding();
  template_args_ = std::move(outer_args);
  type_depth_ = outer_depth;
  expect('E');
  Node entity;
  if (accept("s")) {
    entity = make(Kind::kName, "string literal");
  } else {
    entity = name(is_template);
  }
  if (accept("__")) {
    number();
    expect('_');
  } else if (peek() == '_' && is_digit(peek(1))) {
    position_ += 2;
  }
  std::vector<Node> signature_children = {make(Kind::kBuiltin, "")};
  signature_children.insert(signature_children.end(), function.params.begin(),
                            function.params.end());
  Node scope = function.name;
  if (function.is_function) {
    // Written "k(int*)::entity": a function type whose result is the name.
    signature_children[0] = function.name;
    scope = make(Kind::kFunction, "local", std::move(signature_children));
  }
  return make(Kind::kNested, "", {scope, entity});
}

MangledParser::Node MangledParser::unqualified_name() {
  const Nesting nesting(depth_);
  accept("L");  // internal linkage
  Node node;
  if (is_digit(peek())) {
    node = source_name();
  } else if (accept("Ul")) {
    node = lambda();
  } else if (accept("Ut")) {
    sequence_number();
    node = make(Kind::kName, "{unnamed type}");
  } else if (peek() == 'C' || (peek() == 'D' && is_digit(peek(1)))) {
    // Neither constructors nor destructors are kernels or parameter types.
    throw Unreadable{};
  } else {
    node = operator_name();
  }
  while (accept("B")) {
    node = make(Kind::kName, node->text + "[abi:" + source_name()->text + "]");
  }
  return node;
}

MangledParser::Node MangledParser::source_name() {
  const std::size_t length = number();
  if (length == 0 || length > text_.size() - position_) throw Unreadable{};
  std::string_view identifier = text_.substr(position_, length);
  position_ += length;
  if (identifier.starts_with("_GLOBAL__N_")) identifier = "(anonymous namespace)";
  return make(Kind::kName, std::string(identifier));
}

// Ul <parameters> E [number] _
MangledParser::Node MangledParser::lambda() {
  std::vector<Node> params;
  signature(params, "E");
  expect('E');
  const std::size_t ordinal = sequence_number() + 1;
  return make(Kind::kName, "{lambda#" + std::to_string(ordinal) + "}");
}

MangledParser::Node MangledParser::operator_name() {
  for (const auto& [code, spelling] : kOperators) {
    if (accept(code)) return make(Kind::kName, std::string(spelling));
  }
  throw Unreadable{};
}

MangledParser::Node MangledParser::template_args(Node of) {
  const Nesting nesting(depth_);
  expect('I');
  std::vector<Node> children = {of};
  while (!accept("E")) {
    if (at_end()) throw Unreadable{};
    children.push_back(template_arg());
  }
  // T_ in a signature stands for the arguments of the function's own name, not of a type in it.
  if (type_depth_ == 0) template_args_.assign(children.begin() + 1, children.end());
  return make(Kind::kTemplate, "", std::move(children));
}

MangledParser::Node MangledParser::template_arg() {
  const Nesting in_type(type_depth_);
  if (peek() == 'L') return literal();
  if (accept("J")) {
    std::vector<Node> elements;
    while (!accept("E")) {
      if (at_end()) throw Unreadable{};
      elements.push_back(template_arg());
    }
    return make(Kind::kPack, "", std::move(elements));
  }
  return type();
}

// L <type> <value> E, or L _Z <encoding> E for the address of something.
MangledParser::Node MangledParser::literal() {
  const Nesting nesting(depth_);
  expect('L');
  if (accept("_Z") || accept("Z")) {
    const Encoding of = encoding();
    expect('E');
    return make(Kind::kPointer, "address", {of.name});
  }
  const Node of = type();
  const std::size_t end = text_.find('E', position_);
  if (end == std::string_view::npos) throw Unreadable{};
  std::string value(text_.substr(position_, end - position_));
  position_ = end + 1;
  if (!value.empty() && value[0] == 'n') value[0] = '-';
  return make(Kind::kLiteral, std::move(value), {of});
}

MangledParser::Node MangledParser::type() {
  const Nesting nesting(depth_);
  const Nesting in_type(type_depth_);
  const char c = peek();
  switch (c) {
    case 'r':
    case 'V':
    case 'K': {
      std::string qualifiers;
      if (accept("r")) qualifiers += " __restrict__";
      const bool is_volatile = accept("V");
      if (accept("K")) qualifiers += " const";
      if (is_volatile) qualifiers += " volatile";
      const Node inner = type();
      return remember(make(Kind::kQualified, std::move(qualifiers), {inner}));
    }
    case 'P':
      ++position_;
      return remember(make(Kind::kPointer, "", {type()}));
    case 'R':
      ++position_;
      return remember(make(Kind::kReference, "", {type()}));
    case 'O':
      ++position_;
      return remember(make(Kind::kRvalue, "", {type()}));
    case 'F':
      return remember(function_type());
    case 'A':
      return remember(array_type());
    case 'M': {
      ++position_;
      const Node of = type();
      const Node member = type();
      return remember(make(Kind::kMemberPointer, "", {of, member}));
    }
    case 'T': {
      const Node param = remember(template_param());
      return peek() == 'I' ? remember(template_args(param)) : param;
    }
    case 'u': {
      ++position_;
      return remember(make(Kind::kBuiltin, source_name()->text));
    }
    case 'D': {
      if (peek(1) == 'p') {
        position_ += 2;
        return remember(make(Kind::kExpansion, "", {type()}));
      }
      return extended_builtin();
    }
    case 'S':
      if (peek(1) != 't') {
        const Node node = substitution();
        return peek() == 'I' ? remember(template_args(node)) : node;
      }
      break;
    default:
      if (c >= 'a' && c <= 'z') return builtin();
      break;
  }
  bool is_template = false;
  return remember(name(&is_template));  // a class or an enumeration
}

MangledParser::Node MangledParser::builtin() {
  const char c = peek();
  for (const auto& [letter, spelling] : kBuiltins) {
    if (letter == c) {
      ++position_;
      return make(Kind::kBuiltin, std::string(spelling));
    }
  }
  throw Unreadable{};
}

MangledParser::Node MangledParser::extended_builtin() {
  constexpr std::pair<std::string_view, std::string_view> kExtended[] = {
      {"Dn", "decltype(nullptr)"}, {"Di", "char32_t"},    {"Ds", "char16_t"}, {"Du", "char8_t"},
      {"DF16b", "__bf16"},         {"DF16_", "_Float16"}, {"Dh", "__fp16"},
  };
  for (const auto& [code, spelling] : kExtended) {
    if (accept(code)) return make(Kind::kBuiltin, std::string(spelling));
  }
  throw Unreadable{};
}

MangledParser::Node MangledParser::function_type() {
  expect('F');
  accept("Y");  // extern "C"
  std::vector<Node> children = {type()};
  std::vector<Node> params;
  signature(params, "ERO");
  if (peek() == 'R' || peek() == 'O') ++position_;
  expect('E');
  children.insert(children.end(), params.begin(), params.end());
  return make(Kind::kFunction, "", std::move(children));
}

MangledParser::Node MangledParser::array_type() {
  expect('A');
  std::string extent;
  if (peek() == 'T') {
    Node argument = template_param();
    while (argument->kind == Kind::kTemplateParam) argument = argument->children[0];
    if (argument->kind != Kind::kLiteral) throw Unreadable{};
    extent = argument->text;
  } else if (peek() != '_') {
    extent = std::to_string(number());
  }
  expect('_');
  return make(Kind::kArray, std::move(extent), {type()});
}

MangledParser::Node MangledParser::template_param() {
  expect('T');
  const std::size_t index = sequence_number();
  if (index >= template_args_.size()) throw Unreadable{};
  return make(Kind::kTemplateParam, "", {template_args_[index]});
}

MangledParser::Node MangledParser::substitution() {
  expect('S');
  const char c = peek();
  if (c == '_' || is_digit(c) || (c >= 'A' && c <= 'Z')) {
    const std::size_t index = sequence_number();
    if (index >= substitutions_.size()) throw Unreadable{};
    return substitutions_[index];
  }
  ++position_;
  return standard_substitution(c);
}

MangledParser::Node MangledParser::standard_substitution(char code) {
  constexpr std::pair<char, std::string_view> kStandard[] = {
      {'a', "std::allocator"}, {'b', "std::basic_string"}, {'s', "std::string"},
      {'i', "std::istream"},   {'o', "std::ostream"},      {'d', "std::iostream"},
  };
  for (const auto& [letter, spelling] : kStandard) {
    if (letter == code) return make(Kind::kName, std::string(spelling));
  }
  throw Unreadable{};
}

}  // namespace baton::image
