#pragma once

// The grammar of mangled names, as a graph: substitutions share nodes, so its size is linear in the
// symbol's while its text may not be.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace baton::image {

struct MangledNode {
  enum class Kind : std::uint8_t {
    kName,           // text
    kBuiltin,        // text
    kNested,         // children[0]::children[1]
    kTemplate,       // children[0]<children[1…]>
    kPointer,        // children[0]*
    kReference,      // children[0]&
    kRvalue,         // children[0]&&
    kQualified,      // children[0] text: " const"
    kFunction,       // children[0] (children[1…]): the result is first
    kArray,          // children[0] [text]
    kMemberPointer,  // a member of type children[1] of the class children[0]
    kLiteral,        // (children[0])text
    kPack,           // children…, an argument pack
    kTemplateParam,  // stands for children[0]
    kExpansion,      // children[0]...
  };
  Kind kind = Kind::kName;
  std::string text;
  std::vector<const MangledNode*> children;
};

// Parses one symbol. Throws MangledParser::Unreadable where it does not follow the grammar or uses
// a part of it that is not read.
class MangledParser {
 public:
  struct Unreadable {};

  explicit MangledParser(std::string_view symbol) : text_(symbol) {}

  struct Encoding {
    const MangledNode* name = nullptr;
    bool is_function = false;
    const MangledNode* result = nullptr;  // templates alone say it
    std::vector<const MangledNode*> params;
  };
  Encoding parse();

  // The node inside any kTemplateParam, qualifiers kept.
  static const MangledNode* resolve(const MangledNode* node);

 private:
  using Node = const MangledNode*;
  static constexpr int kMaxDepth = 200;
  class Nesting;

  Encoding encoding();
  Node name(bool* is_template);
  Node nested_name(bool* is_template);
  Node local_name(bool* is_template);
  Node unqualified_name();
  Node source_name();
  Node lambda();
  Node operator_name();
  Node template_args(Node of);
  Node template_arg();
  Node literal();
  Node type();
  Node builtin();
  Node extended_builtin();
  Node function_type();
  Node array_type();
  Node template_param();
  Node substitution();
  Node standard_substitution(char code);
  void signature(std::vector<Node>& out, std::string_view stops);

  Node make(MangledNode::Kind kind, std::string text, std::vector<Node> children = {});
  Node remember(Node node);
  std::size_t sequence_number();
  std::size_t number();
  bool at_end() const { return position_ >= text_.size(); }
  char peek(std::size_t ahead = 0) const;
  bool accept(std::string_view token);
  void expect(char c);

  std::string_view text_;
  std::size_t position_ = 0;
  int depth_ = 0;
  int type_depth_ = 0;             // above 0 inside a type or a template argument
  std::deque<MangledNode> nodes_;  // the graph; addresses stay
  std::vector<Node> substitutions_;
  std::vector<Node> template_args_;  // what T_, T0_ … stand for
};

}  // namespace baton::image
