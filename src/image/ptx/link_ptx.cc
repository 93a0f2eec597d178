#include "image/ptx/link_ptx.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text/text.h"
#include "image/names/mangled_name.h"
#include "image/ptx/link_target.h"
#include "image/ptx/ptx_types.h"
#include "ptx/lexer.h"
#include "ptx/printer.h"

namespace baton::image {
namespace {

// The functions that every driver provides.
constexpr std::array<std::string_view, 4> kProvided = {"vprintf", "malloc", "free", "__assertfail"};
// The only section whose names the code uses: those of inlined functions.
constexpr std::string_view kStrings = ".debug_str";

// A function or variable that a module has: one of the two is null.
struct LinkSymbol {
  std::size_t module = 0;
  const ptx::Function* function = nullptr;
  const ptx::Variable* variable = nullptr;

  std::string_view name() const { return function ? function->name : variable->name; }
  std::string_view linkage() const { return function ? function->linkage : variable->linkage; }
  // Of two definitions the stronger one remains.
  int strength() const { return linkage() == "weak" ? 0 : linkage() == "common" ? 1 : 2; }
};

// All arrays of dynamic shared memory begin at its start, whatever they are called.
bool is_dynamic_shared(const ptx::Variable& variable) {
  return variable.linkage == "extern" && variable.space == ptx::StateSpace::kShared;
}

bool have_equal_sizes(const ptx::Variable& a, const ptx::Variable& b) {
  const auto size_a = extent_of(a);
  const auto size_b = extent_of(b);
  // An incomplete array fits every array.
  return a.space == b.space && (!size_a || !size_b || size_a->size == size_b->size);
}

bool have_equal_sizes(const std::vector<ptx::Variable>& a, const std::vector<ptx::Variable>& b) {
  return std::ranges::equal(
      a, b, [](const auto& one, const auto& other) { return have_equal_sizes(one, other); });
}

class PtxLinker {
 public:
  explicit PtxLinker(std::span<const std::shared_ptr<const ptx::ParsedModule>> modules)
      : modules_(modules), parts_(modules.size()) {}

  std::string link() {
    const LinkTarget target = common_target(modules_);
    for (std::size_t m = 0; m < modules_.size(); ++m) collect(m);
    for (const LinkSymbol& declared : declared_) check(declared);
    rename_locals();
    out_ = fmt::format(".version {}.{}\n.target {}\n.address_size {}\n\n", target.version.first,
                       target.version.second, target.text, target.address_size);
    put_files();
    put_heads();
    put_variables();
    for (std::size_t m = 0; m < modules_.size(); ++m) put_functions(m);
    put_strings();
    return std::move(out_);
  }

 private:
  struct Part {
    std::unordered_map<std::string_view, const ptx::Function*> aliases;    // other names of others
    std::unordered_map<std::string_view, const ptx::Variable*> variables;  // local ones
    std::vector<std::string_view> locals;                                  // in the order written
    ptx::Renaming renaming;
  };

  const std::string& name_of(std::size_t module) const { return modules_[module]->name(); }

  void collect(std::size_t m) {
    Part& part = parts_[m];
    for (const ptx::TopLevel& item : modules_[m]->items()) {
      const auto* directive = std::get_if<ptx::Directive>(&item);
      if (directive == nullptr || directive->name != "alias" || directive->operands.empty())
        continue;
      part.aliases.emplace(directive->operands[0].text, nullptr);
    }
    for (const ptx::TopLevel& item : modules_[m]->items()) {
      if (const auto* function = std::get_if<ptx::Function>(&item)) collect(m, *function);
      if (const auto* variable = std::get_if<ptx::Variable>(&item)) collect(m, *variable);
      if (const auto* section = std::get_if<ptx::Section>(&item)) collect(m, *section);
    }
  }

  void collect(std::size_t m, const ptx::Function& function) {
    const LinkSymbol symbol{m, &function, nullptr};
    const bool is_global =
        function.is_entry || function.linkage == "visible" || function.linkage == "weak";
    const auto alias = parts_[m].aliases.find(function.name);
    if (alias != parts_[m].aliases.end()) {
      if (std::exchange(alias->second, &function) != nullptr) return;
    }
    if (!function.has_body && alias == parts_[m].aliases.end()) {
      // The declaration of a function that the same module defines tells nothing more.
      const ptx::Function* own = modules_[m]->function(function.name);
      if (own == &function || !own->has_body) declared_.push_back(symbol);
    } else if (is_global) {
      define(symbol);
    } else {
      parts_[m].locals.push_back(function.name);
    }
  }

  void collect(std::size_t m, const ptx::Variable& variable) {
    const LinkSymbol symbol{m, nullptr, &variable};
    if (variable.linkage.empty() || is_dynamic_shared(variable)) {
      if (!parts_[m].variables.emplace(variable.name, &variable).second) return;
      parts_[m].locals.push_back(variable.name);
    } else if (variable.linkage != "extern") {
      define(symbol);
    } else if (modules_[m]->variable(variable.name) == &variable) {
      declared_.push_back(symbol);
    }
  }

  void collect(std::size_t m, const ptx::Section& section) {
    if (section.name != kStrings) {
      log(LogLevel::kInfo, "{}: its section {} is left out of the link", name_of(m), section.name);
      return;
    }
    ptx::Lexer lexer(section.text, name_of(m), section.text, {1, 1});
    for (ptx::Token token = lexer.next(); token.kind != ptx::TokenKind::kEnd;) {
      const ptx::Token next = lexer.next();
      const bool is_label = token.kind == ptx::TokenKind::kIdentifier && next.is(':');
      if (is_label) parts_[m].locals.push_back(token.text);
      token = next;
    }
  }

  void define(const LinkSymbol& symbol) {
    const auto [found, is_new] = globals_.try_emplace(symbol.name(), symbol);
    if (is_new) {
      order_.push_back(symbol.name());
      return;
    }
    LinkSymbol& first = found->second;
    const std::string name = readable_symbol(symbol.name());
    if ((first.function == nullptr) != (symbol.function == nullptr)) {
      throw error(ErrorCode::kCompile, "{} is a function in {} and a variable in {}; rename one",
                  name, name_of((first.function ? first : symbol).module),
                  name_of((first.function ? symbol : first).module));
    }
    if (std::min(first.strength(), symbol.strength()) == 2) {
      throw error(ErrorCode::kCompile,
                  "{} defines {}, and so does {}; keep one definition, or make them static",
                  name_of(symbol.module), name, name_of(first.module));
    }
    if (symbol.variable != nullptr && !have_equal_sizes(*first.variable, *symbol.variable)) {
      throw error(ErrorCode::kCompile, "{} and {} define {} with different sizes",
                  name_of(first.module), name_of(symbol.module), name);
    }
    if (symbol.strength() > first.strength()) first = symbol;
  }

  // A declaration has a definition, and is like it.
  void check(const LinkSymbol& declared) {
    const std::string name = readable_symbol(declared.name());
    const auto found = globals_.find(declared.name());
    if (found == globals_.end()) {
      if (declared.function != nullptr && std::ranges::count(kProvided, declared.name()) != 0) {
        provided_.try_emplace(declared.name(), declared);
        return;
      }
      throw error(ErrorCode::kCompile, "{} uses {}, which none of the linked files defines; {}",
                  name_of(declared.module), name,
                  declared.function ? "add the file with its definition" : "add the file with it");
    }
    const LinkSymbol& defined = found->second;
    const bool fits =
        declared.function == nullptr
            ? defined.variable != nullptr && have_equal_sizes(*declared.variable, *defined.variable)
            : defined.function != nullptr &&
                  have_equal_sizes(declared.function->params, defined.function->params) &&
                  have_equal_sizes(declared.function->results, defined.function->results);
    if (fits) return;
    throw error(ErrorCode::kCompile,
                "{} declares {} as ({}), and {} defines it as ({}); make them equal",
                name_of(declared.module), name, declaration_of(declared), name_of(defined.module),
                declaration_of(defined));
  }

  static std::string declaration_of(const LinkSymbol& symbol) {
    if (symbol.function != nullptr) return ptx::print_head(*symbol.function, {});
    ptx::Variable declared = *symbol.variable;
    declared.initialiser.clear();
    return ptx::print(declared);
  }

  void rename_locals() {
    std::unordered_set<std::string_view> taken;
    for (const auto& [name, symbol] : globals_) taken.insert(name);
    for (const auto& [name, symbol] : provided_) taken.insert(name);
    std::unordered_set<std::string_view> identifiers;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (const std::string_view local : parts_[m].locals) {
        if (taken.insert(local).second || parts_[m].renaming.names.contains(local)) continue;
        if (identifiers.empty()) identifiers = all_identifiers();
        int number = 1;
        std::string fresh;
        do {
          fresh = fmt::format("{}${}", local, number++);
        } while (identifiers.contains(fresh) || !made_.insert(fresh).second);
        parts_[m].renaming.names.emplace(local, std::move(fresh));
      }
    }
  }

  std::unordered_set<std::string_view> all_identifiers() const {
    std::unordered_set<std::string_view> all;
    for (const auto& module : modules_) {
      ptx::Lexer lexer(module->text(), module->name(), module->text(), {1, 1});
      for (ptx::Token token = lexer.next(); token.kind != ptx::TokenKind::kEnd;
           token = lexer.next()) {
        if (token.kind == ptx::TokenKind::kIdentifier) all.insert(token.text);
      }
    }
    return all;
  }

  void put(const std::string& text) {
    out_ += text;
    out_ += '\n';
  }

  void put_files() {
    std::uint32_t first = 0;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      parts_[m].renaming.first_file = first;
      std::uint32_t last = 0;
      for (const ptx::TopLevel& item : modules_[m]->items()) {
        const auto* file = std::get_if<ptx::FileEntry>(&item);
        if (file == nullptr) continue;
        if (file->index >= kMaxFiles) {
          throw error(ErrorCode::kCompile, "{}: its file has the number {}, the largest is {}",
                      name_of(m), file->index, kMaxFiles - 1);
        }
        put(fmt::format(".file {} \"{}\"", first + file->index, file->name));
        last = std::max(last, file->index);
      }
      first += last;
    }
  }

  // Everything that code and initialisers can name is declared before.
  void put_heads() {
    for (const auto& [name, symbol] : provided_) {
      put(ptx::print_head(*symbol.function, parts_[symbol.module].renaming));
    }
    for (const std::string_view name : order_) {
      const LinkSymbol& symbol = globals_.at(name);
      if (symbol.function == nullptr || symbol.function->is_entry) continue;
      put(ptx::print_head(*symbol.function, parts_[symbol.module].renaming));
    }
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (const ptx::TopLevel& item : modules_[m]->items()) {
        const auto* function = std::get_if<ptx::Function>(&item);
        if (function != nullptr && is_local(m, *function)) {
          put(ptx::print_head(*function, parts_[m].renaming));
        }
      }
    }
  }

  bool is_local(std::size_t m, const ptx::Function& function) const {
    if (function.is_entry || !function.linkage.empty()) return false;
    return function.has_body || parts_[m].aliases.contains(function.name);
  }

  // Initialisers name variables that come before.
  void put_variables() {
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (const ptx::TopLevel& item : modules_[m]->items()) {
        const auto* variable = std::get_if<ptx::Variable>(&item);
        if (variable == nullptr) continue;
        if (const auto symbol = variable_of(m, variable->name)) put_variable(*symbol);
      }
    }
  }

  // What the name of a variable means in a module.
  std::optional<LinkSymbol> variable_of(std::size_t m, std::string_view name) const {
    const auto local = parts_[m].variables.find(name);
    if (local != parts_[m].variables.end()) return LinkSymbol{m, nullptr, local->second};
    const auto global = globals_.find(name);
    if (global == globals_.end() || global->second.variable == nullptr) return std::nullopt;
    return global->second;
  }

  void put_variable(const LinkSymbol& wanted) {
    struct Open {
      LinkSymbol symbol;
      std::vector<LinkSymbol> needed;
    };
    std::vector<Open> open;
    const auto begin = [&](const LinkSymbol& symbol) {
      const auto [state, is_new] = states_.try_emplace(symbol.variable, State::kOpen);
      if (!is_new && state->second == State::kOpen) {
        throw error(ErrorCode::kCompile,
                    "{}: the initial values of {} and of another variable name each other, which "
                    "one PTX module cannot; set one of them in a kernel",
                    name_of(symbol.module), readable_symbol(symbol.name()));
      }
      if (!is_new) return;
      open.push_back({symbol, {}});
      for (const ptx::InstructionOperand& operand : symbol.variable->initialiser) {
        add_needed(symbol, operand, open.back().needed);
      }
    };
    begin(wanted);
    while (!open.empty()) {
      if (!open.back().needed.empty()) {
        const LinkSymbol next = open.back().needed.back();
        open.back().needed.pop_back();
        begin(next);
        continue;
      }
      const LinkSymbol& done = open.back().symbol;
      put(ptx::print(*done.variable, parts_[done.module].renaming));
      states_[done.variable] = State::kDone;
      open.pop_back();
    }
  }

  // The other variables that an initialiser names. Its own address is one that it may have.
  void add_needed(const LinkSymbol& symbol, const ptx::InstructionOperand& operand,
                  std::vector<LinkSymbol>& needed) const {
    if (operand.kind == ptx::InstructionOperand::Kind::kIdentifier) {
      const auto found = variable_of(symbol.module, operand.text);
      if (found && found->variable != symbol.variable) needed.push_back(*found);
    }
    for (const ptx::InstructionOperand& child : operand.children) {
      add_needed(symbol, child, needed);
    }
  }

  void put_functions(std::size_t m) {
    for (const ptx::TopLevel& item : modules_[m]->items()) {
      const ptx::Renaming& renaming = parts_[m].renaming;
      if (const auto* function = std::get_if<ptx::Function>(&item)) {
        if (function->has_body && is_kept(m, *function)) put(ptx::print(*function, renaming));
      } else if (const auto* directive = std::get_if<ptx::Directive>(&item)) {
        if (directive->name == "alias" && !is_kept_alias(m, *directive)) continue;
        put(ptx::print(*directive, renaming));
      }
    }
  }

  bool is_kept_alias(std::size_t m, const ptx::Directive& directive) const {
    if (directive.operands.empty()) return false;
    const auto alias = parts_[m].aliases.find(directive.operands[0].text);
    return alias->second != nullptr && is_kept(m, *alias->second);
  }

  bool is_kept(std::size_t m, const ptx::Function& function) const {
    if (is_local(m, function)) return true;
    const auto found = globals_.find(function.name);
    return found != globals_.end() && found->second.function == &function;
  }

  // The names of inlined functions, which line tables refer to.
  void put_strings() {
    std::string strings;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (const ptx::TopLevel& item : modules_[m]->items()) {
        const auto* section = std::get_if<ptx::Section>(&item);
        if (section == nullptr || section->name != kStrings) continue;
        strings += renamed_content(m, section->text);
      }
    }
    if (!strings.empty()) put(fmt::format(".section {} {{\n{}\n}}", kStrings, strings));
  }

  // Without its braces.
  std::string renamed_content(std::size_t m, std::string_view text) const {
    std::string out;
    std::size_t copied = 1;
    ptx::Lexer lexer(text, name_of(m), text, {1, 1});
    for (ptx::Token token = lexer.next(); token.kind != ptx::TokenKind::kEnd;
         token = lexer.next()) {
      const auto renamed = parts_[m].renaming.names.find(token.text);
      if (token.kind != ptx::TokenKind::kIdentifier || renamed == parts_[m].renaming.names.end()) {
        continue;
      }
      const auto at = static_cast<std::size_t>(token.text.data() - text.data());
      out += text.substr(copied, at - copied);
      out += renamed->second;
      copied = at + token.text.size();
    }
    return out.append(text.substr(copied, text.size() - 1 - copied));
  }

  enum class State : std::uint8_t { kOpen, kDone };
  static constexpr std::uint32_t kMaxFiles = 1U << 20;

  const std::span<const std::shared_ptr<const ptx::ParsedModule>> modules_;
  std::vector<Part> parts_;  // of each module
  std::unordered_map<std::string_view, LinkSymbol> globals_;
  std::vector<std::string_view> order_;  // of globals_
  std::vector<LinkSymbol> declared_;
  std::unordered_map<std::string_view, LinkSymbol> provided_;
  std::unordered_set<std::string> made_;  // new names
  std::unordered_map<const ptx::Variable*, State> states_;
  std::string out_;
};

}  // namespace

std::string readable_symbol(std::string_view symbol) {
  const auto name = read_mangled(symbol);
  return name ? name->text : printable(symbol);
}

std::string link_ptx(std::span<const std::shared_ptr<const ptx::ParsedModule>> modules) {
  return PtxLinker(modules).link();
}

}  // namespace baton::image
