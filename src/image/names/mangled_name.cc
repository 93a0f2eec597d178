#include "image/names/mangled_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "image/names/mangled_parser.h"

namespace baton::image {
namespace {

using Kind = MangledNode::Kind;
using Node = const MangledNode*;

// Writes nodes as text. A declarator, what stands where a variable's name would, is passed inwards:
// "int (*)(float)" is the function type with the declarator "(*)".
class MangledText {
 public:
  std::string type(Node node, std::string declarator = "") {
    spend(declarator.size() + 1);
    const Nesting nesting(depth_);
    switch (node->kind) {
      case Kind::kName:
      case Kind::kBuiltin:
        return joined(node->text, declarator);
      case Kind::kNested:
        return joined(fmt::format("{}::{}", type(node->children[0]), type(node->children[1])),
                      declarator);
      case Kind::kTemplate:
        return joined(template_id(node), declarator);
      case Kind::kPointer:
        if (node->text == "address") return fmt::format("&{}", type(node->children[0]));
        return pointer(node->children[0], "*", std::move(declarator));
      case Kind::kReference:
        return pointer(node->children[0], "&", std::move(declarator));
      case Kind::kRvalue:
        return pointer(node->children[0], "&&", std::move(declarator));
      case Kind::kQualified:
        return type(
            node->children[0],
            fmt::format("{}{}{}", node->text, declarator.starts_with('(') ? " " : "", declarator));
      case Kind::kFunction:
        return function(node, std::move(declarator));
      case Kind::kArray: {
        const bool adjacent = declarator.ends_with(']');
        return type(node->children[0],
                    fmt::format("{}{}[{}]", declarator, adjacent ? "" : " ", node->text));
      }
      case Kind::kMemberPointer:
        return pointer(node->children[1], type(node->children[0]) + "::*", std::move(declarator));
      case Kind::kLiteral:
        return literal(node);
      case Kind::kPack: {
        std::vector<std::string> elements;
        for (Node element : node->children) elements.push_back(type(element));
        return list(elements);
      }
      case Kind::kTemplateParam:
        return type(argument(node), std::move(declarator));
      case Kind::kExpansion:
        return list(expand(node, [&](Node n) { return type(n); }));
    }
    return {};
  }

  // Applies `visit` to the pattern of an expansion once for every element of its pack.
  template <typename Visit>
  auto expand(Node expansion, Visit&& visit) -> std::vector<decltype(visit(expansion))> {
    std::vector<decltype(visit(expansion))> out;
    const Node pack = find_pack(expansion->children[0]);
    const std::size_t count = pack == nullptr ? 1 : pack->children.size();
    const std::size_t outer = element_;
    for (std::size_t i = 0; i < count; ++i) {
      element_ = i;
      out.push_back(visit(expansion->children[0]));
    }
    element_ = outer;
    return out;
  }

  // What a template parameter stands for: one element, inside the expansion of a pack.
  Node argument(Node node) {
    spend(1);
    const Node inner = node->children[0];
    if (inner->kind != Kind::kPack || element_ >= inner->children.size()) return inner;
    return inner->children[element_];
  }

  static std::string list(const std::vector<std::string>& elements) {
    std::string out;
    for (const std::string& element : elements) {
      if (element.empty()) continue;  // an empty pack
      if (!out.empty()) out += ", ";
      out += element;
    }
    return out;
  }

 private:
  // Real names stay far below; a hostile one would be written for ever.
  static constexpr std::size_t kBudget = std::size_t{1} << 20;
  static constexpr std::size_t kNoElement = static_cast<std::size_t>(-1);

  // Substitutions make the graph deeper than the symbol nests.
  class Nesting {
   public:
    explicit Nesting(int& depth) : depth_(depth) {
      if (++depth_ > kMaxDepth) throw MangledParser::Unreadable{};
    }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    static constexpr int kMaxDepth = 400;
    int& depth_;
  };

  void spend(std::size_t bytes) {
    spent_ += bytes;
    if (spent_ > kBudget) throw MangledParser::Unreadable{};
  }

  std::string joined(const std::string& text, const std::string& declarator) {
    spend(text.size());
    // "int*", but "int (*)(float)" and "int S::*".
    const bool is_apart = !declarator.empty() &&
                          std::string_view("*& ").find(declarator[0]) == std::string_view::npos;
    return fmt::format("{}{}{}", text, is_apart ? " " : "", declarator);
  }

  std::string pointer(Node to, std::string_view mark, std::string declarator) {
    while (to->kind == Kind::kTemplateParam) to = argument(to);
    declarator = fmt::format("{}{}", mark, declarator);
    const bool is_declared_around = to->kind == Kind::kFunction || to->kind == Kind::kArray;
    return type(to, is_declared_around ? fmt::format("({})", declarator) : std::move(declarator));
  }

  std::string function(Node node, std::string declarator) {
    std::vector<std::string> params;
    for (std::size_t i = 1; i < node->children.size(); ++i) {
      params.push_back(type(node->children[i]));
    }
    const std::string signature = fmt::format("{}({})", declarator, list(params));
    if (node->text == "local") return type(node->children[0]) + signature;
    return type(node->children[0], signature);
  }

  std::string template_id(Node node) {
    std::vector<std::string> args;
    for (std::size_t i = 1; i < node->children.size(); ++i) {
      args.push_back(type(node->children[i]));
    }
    std::string args_text = list(args);
    spend(args_text.size());
    return fmt::format("{}<{}>", type(node->children[0]), args_text);
  }

  std::string literal(Node node) {
    const std::string of = type(node->children[0]);
    if (of == "bool") return node->text == "0" ? "false" : "true";
    constexpr std::pair<std::string_view, std::string_view> kSuffixes[] = {
        {"int", ""},         {"unsigned int", "u"},         {"long", "l"}, {"unsigned long", "ul"},
        {"long long", "ll"}, {"unsigned long long", "ull"},
    };
    for (const auto& [name, suffix] : kSuffixes) {
      if (of == name) return node->text + std::string(suffix);
    }
    return fmt::format("({}){}", of, node->text);
  }

  // The pack that the pattern of an expansion is about, or null.
  Node find_pack(Node node) {
    spend(1);
    const Nesting nesting(depth_);
    if (node->kind == Kind::kTemplateParam) {
      return node->children[0]->kind == Kind::kPack ? node->children[0] : nullptr;
    }
    for (Node child : node->children) {
      if (const Node found = find_pack(child)) return found;
    }
    return nullptr;
  }

  std::size_t spent_ = 0;
  int depth_ = 0;
  std::size_t element_ = kNoElement;
};

SourceType param_of(MangledText& text, Node node) {
  SourceType param;
  param.type = text.type(node);
  const auto bare = [&](Node of, bool* is_const) {
    while (of->kind == Kind::kTemplateParam || of->kind == Kind::kQualified) {
      if (of->kind == Kind::kQualified && of->text.find("const") != of->text.npos) *is_const = true;
      of = of->kind == Kind::kQualified ? of->children[0] : text.argument(of);
    }
    return of;
  };
  bool is_const = false;
  const Node type = bare(node, &is_const);
  switch (type->kind) {
    case Kind::kPointer:
    case Kind::kReference:
    case Kind::kRvalue:
      param.kind = ParamKind::kPointer;
      param.size = 8;
      param.dtype = dtype_of_type(text.type(bare(type->children[0], &param.read_only)));
      return param;
    case Kind::kName:
    case Kind::kBuiltin:
      param.dtype = dtype_of_type(type->text);
      if (param.dtype) {
        param.kind = ParamKind::kScalar;
        param.size = static_cast<std::uint32_t>(size_of(*param.dtype));
      }
      return param;
    default:
      return param;
  }
}

MangledName write(const MangledParser::Encoding& encoding) {
  MangledText text;
  MangledName out;
  out.text = text.type(encoding.name);
  if (!encoding.is_function) return out;
  std::vector<SourceType> params;
  for (Node node : encoding.params) {
    if (node->kind == Kind::kExpansion) {
      for (SourceType& param : text.expand(node, [&](Node n) { return param_of(text, n); })) {
        params.push_back(std::move(param));
      }
    } else {
      params.push_back(param_of(text, node));
    }
  }
  std::vector<std::string> types;
  for (const SourceType& param : params) types.push_back(param.type);
  out.text += fmt::format("({})", MangledText::list(types));
  out.params = std::move(params);
  return out;
}

}  // namespace

std::optional<MangledName> read_mangled(std::string_view symbol) {
  // Most kernels of compilers other than C++'s; a throw for each takes longer than all their facts.
  if (!symbol.starts_with("_Z")) return std::nullopt;
  try {
    MangledParser parser(symbol);
    return write(parser.parse());
  } catch (const MangledParser::Unreadable&) {
    return std::nullopt;
  }
}

}  // namespace baton::image
