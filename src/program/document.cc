#include "program/document.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

// This is the one place that includes toml++; it is big.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace baton {
namespace {

// toml++ nests one table for each part of a dotted key and frees them recursively: a key of a
// million dots would overflow the stack. Nobody needs more than a few.
constexpr int kMaxDots = 64;

// Holds the dots of one key or number, outside strings and comments, against kMaxDots.
class DotCounter {
 public:
  DotCounter(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void check() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"' || c == '\'') {
        skip_string(c);
        continue;
      }
      if (c == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
        continue;
      }
      if (c == '\n') ++line_;
      if (c == '.') {
        if (++dots_ > kMaxDots) {
          throw error_at({name_, line_, 0}, ErrorCode::kInvalidInput, "a key of more than {} parts",
                         kMaxDots);
        }
      } else if (c == '\n' || c == '=' || c == ',' || c == '{' || c == '}') {
        dots_ = 0;
      }
      ++position_;
    }
  }

 private:
  void skip_string(char quote) {
    const std::string triple(3, quote);
    const bool multiline = text_.substr(position_, 3) == triple;
    position_ += multiline ? 3 : 1;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '\n') {
        ++line_;
        if (!multiline) return;  // unterminated: toml++ says so
      }
      if (multiline ? text_.substr(position_, 3) == triple : c == quote) {
        position_ += multiline ? 3 : 1;
        // The content may end in one or two quotes of its own.
        const std::size_t most = std::min(position_ + 2, text_.size());
        while (multiline && position_ < most && text_[position_] == quote) ++position_;
        return;
      }
      position_ += c == '\\' && quote == '"' ? 2 : 1;
    }
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t position_ = 0;
  int line_ = 1;
  int dots_ = 0;
};

void set_place(const toml::source_position& from, int& line, int& column) {
  line = static_cast<int>(from.line);
  column = static_cast<int>(from.column);
}

DocumentNode convert(const toml::node& from) {
  using Kind = DocumentNode::Kind;
  DocumentNode node;
  set_place(from.source().begin, node.line, node.column);
  switch (from.type()) {
    case toml::node_type::table: {
      for (const auto& [key, value] : *from.as_table()) {
        DocumentNode::Member member{std::string(key.str()), 0, 0, convert(value)};
        set_place(key.source().begin, member.line, member.column);
        node.members.push_back(std::move(member));
      }
      // toml++ keeps them sorted by name.
      std::stable_sort(node.members.begin(), node.members.end(), [](const auto& a, const auto& b) {
        return std::pair(a.line, a.column) < std::pair(b.line, b.column);
      });
      break;
    }
    case toml::node_type::array:
      node.kind = Kind::kArray;
      for (const toml::node& item : *from.as_array()) node.items.push_back(convert(item));
      break;
    case toml::node_type::string:
      node.kind = Kind::kString;
      node.string = from.as_string()->get();
      break;
    case toml::node_type::integer:
      node.kind = Kind::kInteger;
      node.integer = from.as_integer()->get();
      break;
    case toml::node_type::floating_point:
      node.kind = Kind::kFloat;
      node.real = from.as_floating_point()->get();
      break;
    case toml::node_type::boolean:
      node.kind = Kind::kBool;
      node.integer = from.as_boolean()->get() ? 1 : 0;
      break;
    default:
      node.kind = Kind::kTime;
      break;
  }
  return node;
}

}  // namespace

const DocumentNode* DocumentNode::member(std::string_view key) const {
  for (const Member& candidate : members) {
    if (candidate.key == key) return &candidate.value;
  }
  return nullptr;
}

std::string_view describe(DocumentNode::Kind kind) {
  switch (kind) {
    case DocumentNode::Kind::kTable:
      return "a table";
    case DocumentNode::Kind::kArray:
      return "an array";
    case DocumentNode::Kind::kString:
      return "a string";
    case DocumentNode::Kind::kInteger:
      return "an integer";
    case DocumentNode::Kind::kFloat:
      return "a float";
    case DocumentNode::Kind::kBool:
      return "a boolean";
    case DocumentNode::Kind::kTime:
      return "a date or time";
  }
  return "a value";
}

Document::Document(std::string_view text, std::string name) : text_(text), name_(std::move(name)) {
  if (text_.size() > kMaxBytes) {
    throw error_at({name_}, ErrorCode::kInvalidInput,
                   "a program of {} is larger than the limit of {}", format_bytes(text_.size()),
                   format_bytes(kMaxBytes));
  }
  DotCounter(text_, name_).check();
  const toml::parse_result result = toml::parse(std::string_view(text_));
  if (!result) {
    const toml::parse_error& failure = result.error();
    SourceLocation where{name_};
    set_place(failure.source().begin, where.line, where.column);
    throw error_at(where, ErrorCode::kInvalidInput, "not TOML: {}",
                   printable(failure.description(), 400))
        .note(source_excerpt(text_, where.line, where.column));
  }
  root_ = convert(result.table());
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

SourceLocation Document::content_place(const DocumentNode& node) const {
  const SourceLocation unknown{name_, node.line, 0};
  if (node.line < 1 || static_cast<std::size_t>(node.line) > line_starts_.size()) return unknown;
  // Columns count characters, not bytes.
  std::size_t offset = line_starts_[static_cast<std::size_t>(node.line) - 1];
  for (int column = 1; column < node.column && offset < text_.size(); ++column) {
    do {
      ++offset;
    } while (offset < text_.size() && (static_cast<unsigned char>(text_[offset]) & 0xC0) == 0x80);
  }
  const std::string_view rest = std::string_view(text_).substr(std::min(offset, text_.size()));
  for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
    if (rest.substr(0, quote.size()) != quote) continue;
    const std::string_view content = rest.substr(quote.size(), node.string.size());
    if (content != node.string) return unknown;
    return {name_, node.line, node.column + static_cast<int>(quote.size())};
  }
  return unknown;
}

}  // namespace baton
