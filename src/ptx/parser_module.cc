// The top level of a module (PTX ISA 9.0, "PTX Module Directives", "Kernel and Function
// Directives"). Bodies of functions are only delimited.

#include <charconv>
#include <utility>

#include "ptx/module_index.h"
#include "ptx/parser.h"
#include "ptx/version_error.h"

namespace baton::ptx {
namespace {

// Major and minor, of the ptxas of CUDA 13.5. It refuses later ones, too.
constexpr std::pair kNewestVersion(9, 5);

int parse_int(std::string_view text) {
  int value = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  return status == std::errc() && stop == end ? value : -1;
}

}  // namespace

void Parser::parse_module(ParsedModule& module) {
  const std::string_view text = module.text_;
  Parser parser(Lexer(text, module.name_, text, {1, 1}), kMaxNodesOfTop);
  parser.header(module);
  while (parser.token_.kind != TokenKind::kEnd) parser.top_level(module);
}

// .version 9.0  .target sm_90a, debug  .address_size 64
void Parser::header(ParsedModule& module) {
  if (!token_.is_dot("version")) unexpected("\".version\", which begins a module of PTX");
  advance();
  const std::size_t dot = token_.text.find('.');
  if (token_.kind != TokenKind::kFloat || dot == std::string_view::npos) {
    unexpected("a version such as 9.0");
  }
  module.version_major_ = parse_int(token_.text.substr(0, dot));
  module.version_minor_ = parse_int(token_.text.substr(dot + 1));
  if (module.version_major_ < 0 || module.version_minor_ < 0) unexpected("a version such as 9.0");
  check_version(module);
  advance();
  if (!token_.is_dot("target")) unexpected("\".target\" after the version");
  advance();
  do {
    module.targets_.push_back(identifier("a target such as sm_90"));
  } while (accept(','));
  if (!token_.is_dot("address_size")) return;
  advance();
  const Position position = token_.position;
  module.address_size_ = static_cast<int>(number32("an address size"));
  if (module.address_size_ != 32 && module.address_size_ != 64) {
    fail(position, fmt::format("an address size is 32 or 64, not {}", module.address_size_));
  }
}

// A newer version may give another meaning to what is known.
void Parser::check_version(const ParsedModule& module) const {
  const std::pair version(module.version_major_, module.version_minor_);
  if (version <= kNewestVersion) return;
  throw VersionError(syntax_error(
      module.text_, module.name_, token_.position,
      fmt::format(
          "PTX of version {}.{} is newer than {}.{}, the newest that is known; compile with "
          "an older CUDA toolkit, or take a newer version of Baton",
          version.first, version.second, kNewestVersion.first, kNewestVersion.second)));
}

void Parser::top_level(ParsedModule& module) {
  std::string_view linkage;
  if (token_.kind == TokenKind::kDot && is_linkage(token_.text.substr(1))) {
    linkage = advance().text.substr(1);
  }
  if (token_.is_dot("entry") || token_.is_dot("func")) return function(module, linkage);
  if (token_.kind == TokenKind::kDot && state_space(token_.text.substr(1)) != StateSpace::kNone) {
    return variables(linkage, [&](Variable variable) {
      const Position position = variable.position;
      module.items_.emplace_back(std::in_place_type<Variable>, std::move(variable));
      const auto& item = std::get<Variable>(module.items_.back());
      if (const Variable* first = module.index_->add(item)) {
        fail(position, fmt::format("the variable \"{}\" is defined twice; the first is at {}:{}",
                                   item.name, first->position.line, first->position.column));
      }
    });
  }
  if (!linkage.empty()) unexpected("\".entry\", \".func\" or a state space after the linkage");
  if (token_.is_dot("file")) return file_entry(module);
  if (token_.is_dot("section")) return section(module);
  for (const char* name : {"version", "target", "address_size"}) {
    if (!token_.is_dot(name)) continue;
    fail(token_.position,
         fmt::format("a second \".{}\": a text holds one module, whose header comes first", name));
  }
  if (token_.kind != TokenKind::kDot) {
    unexpected("a directive, such as \".entry\", at the top level of the module");
  }
  module.items_.emplace_back(std::in_place_type<Directive>, directive());
  const auto& item = std::get<Directive>(module.items_.back());
  if (item.name == "alias" && item.operands.size() == 2) {
    module.index_->aliases.try_emplace(item.operands[0].text, item.operands[1].text);
  }
}

// .file 1 "name", timestamp, size
void Parser::file_entry(ParsedModule& module) {
  advance();
  FileEntry result;
  result.index = number32("a file index");
  if (token_.kind != TokenKind::kString) unexpected("a file name in quotes");
  result.name = advance().text;
  while (accept(',')) result.extra.push_back(operand());
  module.index_->files.try_emplace(result.index, result.name);
  module.items_.emplace_back(std::in_place_type<FileEntry>, std::move(result));
}

void Parser::section(ParsedModule& module) {
  advance();
  if (token_.kind != TokenKind::kDot) unexpected("a section name such as \".debug_info\"");
  Section result;
  result.name = advance().text;
  if (!token_.is('{')) unexpected("\"{\" after the section's name");
  result.text = lexer_.skip_block(token_);
  token_ = lexer_.next();
  module.items_.emplace_back(std::in_place_type<Section>, result);
}

// .entry name (params) directives   or   .func (results) name (params) directives
Function Parser::head(std::string_view linkage) {
  Function result;
  result.linkage = linkage;
  result.is_entry = advance().text == ".entry";
  if (token_.is_dot("attribute")) {
    advance();
    result.attributes = attributes();
  }
  if (!result.is_entry) result.results = parameters();
  result.position = token_.position;
  result.name = identifier("the name of a function");
  result.params = parameters();
  result.directives = function_directives();
  return result;
}

void Parser::function(ParsedModule& module, std::string_view linkage) {
  module.items_.emplace_back(std::in_place_type<Function>, head(linkage));
  auto& result = std::get<Function>(module.items_.back());
  result.module_ = &module;
  if (token_.is('{')) {
    result.has_body = true;
    result.body_position_ = token_.position;
    result.body_text_ = lexer_.skip_block(token_);
    result.lazy_ = std::make_shared<Function::Lazy>();
    token_ = lexer_.next();
  } else if (token_.is(';')) {
    advance();
  } else {
    unexpected("\"{\" or \";\" after the function's head");
  }
  if (const Function* first = module.index_->add(result)) {
    fail(result.position, fmt::format("the function \"{}\" is defined twice; the first is at {}:{}",
                                      result.name, first->position.line, first->position.column));
  }
}

}  // namespace baton::ptx
