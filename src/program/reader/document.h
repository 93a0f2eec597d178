#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/error.h"

namespace baton {

// A value of a TOML document, with its place.
struct DocumentNode {
  enum class Kind : std::uint8_t { kTable, kArray, kString, kInteger, kFloat, kBool, kTime };

  struct Member;

  Kind kind = Kind::kTable;
  int line = 0;
  int column = 0;
  int end_line = 0;  // after its last character
  int end_column = 0;
  std::int64_t integer = 0;  // kInteger, kBool (0 or 1)
  double real = 0;           // kFloat
  std::string string;        // kString
  std::vector<DocumentNode> items;
  std::vector<Member> members;  // in the order of the text

  const DocumentNode* member(std::string_view key) const;
};

struct DocumentNode::Member {
  std::string key;
  int line = 0;
  int column = 0;
  DocumentNode value;
};

// "a string", "an integer", …: for messages.
std::string_view describe(DocumentNode::Kind kind);

// A TOML 1.0 document read into memory. Immutable.
class Document {
 public:
  // A program file larger than this is a mistake.
  static constexpr std::uint64_t kMaxBytes = 4 << 20;

  // `name` is what messages call it. Throws kInvalidInput at the offending line and column.
  Document(std::string_view text, std::string name);

  const DocumentNode& root() const { return root_; }
  const FileName& name() const { return name_; }

  SourceLocation place(const DocumentNode& node) const { return {name_, node.line, node.column}; }
  SourceLocation place(const DocumentNode::Member& member) const {
    return {name_, member.line, member.column};
  }
  // The bytes of a value in the text.
  struct Extent {
    std::size_t begin, end;
  };
  Extent extent(const DocumentNode& node) const {
    return {offset(node.line, node.column), offset(node.end_line, node.end_column)};
  }
  // Where the content of a string starts. The column is unknown (0) where the text is written with
  // escapes, so that places inside it cannot be told.
  SourceLocation content_place(const DocumentNode& node) const;

 private:
  // At the end of the text for a place after it.
  std::size_t offset(int line, int column) const;

  std::string text_;
  FileName name_;
  std::vector<std::size_t> line_starts_;
  DocumentNode root_;
};

}  // namespace baton
