#include "metamorphosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <random>
#include <set>
#include <variant>
#include <vector>

#include "ptx/ast.h"
#include "ptx/isa.h"
#include "ptx/printer.h"

namespace baton::verdicts {
namespace {

// Instructions at the beginning of a kernel that stay together. A parameter's kind is read from
// what is done with it in the order written (image/ptx_use.h).
constexpr std::size_t kWhole = 20;

// A statement of a body, as text. Blocks in braces stay whole.
struct Line {
  std::string text;
  std::string label;                     // of a label
  bool ends = false;                     // nothing follows it
  bool branches = false;                 // something else may follow it
  bool is_pure = false;                  // what it does is to give registers values
  bool is_chained = false;               // it may read a carry: nothing is put before it
  std::set<std::string> registers = {};  // in its operands
};

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

// Calls `use` for each name and `rest` for what stands between them.
template <typename Use, typename Rest>
void for_names(const std::string& text, Use use, Rest rest) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == at) {
      rest(text[at++]);
    } else {
      use(text.substr(at, end - at));
      at = end;
    }
  }
}

class Body {
 public:
  Body(const ptx::Function& function, const Metamorphosis& how)
      : random_(how.seed), dead_(how.dead), function_(function) {
    for (const ptx::Statement& statement : function.body().statements) {
      std::visit([&](const auto& node) { add(node, statement); }, statement.node);
    }
  }

  std::string changed() {
    swap_neighbours();
    if (!dead_.empty()) add_dead();
    const std::string blocks = in_other_order();
    return "{\n" + declared_ + blocks + "}\n";
  }

 private:
  std::uint32_t pick(std::size_t count) { return static_cast<std::uint32_t>(random_() % count); }

  // --- Reading -----------------------------------------------------------------------------------

  void add(const ptx::Variable& variable, const ptx::Statement& statement) {
    if (variable.space != ptx::StateSpace::kReg || variable.range == 0) {
      declared_ += ptx::print(statement) + "\n";
      return;
    }
    // A range of names: they change places.
    const std::string base(variable.name);
    std::vector<std::uint32_t> places(variable.range);
    for (std::uint32_t k = 0; k < variable.range; ++k) places[k] = k;
    std::ranges::shuffle(places, random_);
    for (std::uint32_t k = 0; k < variable.range; ++k) {
      renamed_[fmt::format("{}{}", base, k)] = fmt::format("{}_{}", base, places[k]);
    }
    declared_ += fmt::format(".reg .{} {}_<{}>;\n", variable.type, base, variable.range);
  }
  void add(const ptx::Label& label, const ptx::Statement& statement) {
    lines_.push_back({.text = renamed(ptx::print(statement)), .label = std::string(label.name)});
  }
  void add(const ptx::Instruction& i, const ptx::Statement& statement) {
    Line line{.text = renamed(ptx::print(statement)), .label = ""};
    const ptx::Form* const form = ptx::form_of(i);
    using Kind = ptx::Form::Kind;
    const bool leaves =
        form != nullptr && (form->kind == Kind::kBranch || form->kind == Kind::kReturn ||
                            form->kind == Kind::kExit || form->kind == Kind::kTrap);
    line.ends = leaves && i.guard.empty();
    line.branches = leaves;
    line.is_pure = form != nullptr && form->kind == Kind::kPure && i.guard.empty();
    line.is_chained = form != nullptr && form->kind == Kind::kCarry;
    for_names(
        line.text,
        [&](const std::string& name) {
          if (name[0] == '%') line.registers.insert(name.substr(0, name.find('.')));
        },
        [](char) {});
    lines_.push_back(std::move(line));
  }
  void add(const ptx::Loc&, const ptx::Statement&) {}
  void add(const ptx::Block&, const ptx::Statement& statement) {
    lines_.push_back({.text = renamed(ptx::print(statement)), .label = ""});
  }
  template <typename Declaration>
  void add(const Declaration&, const ptx::Statement& statement) {
    declared_ += ptx::print(statement) + "\n";
  }

  std::string renamed(const std::string& text) const {
    std::string result;
    for_names(
        text,
        [&](const std::string& name) {
          const auto found = renamed_.find(name);
          result += found == renamed_.end() ? name : found->second;
        },
        [&](char c) { result += c; });
    return result;
  }

  // --- Changing ----------------------------------------------------------------------------------

  void swap_neighbours() {
    for (std::size_t k = 0; k + 1 < lines_.size(); ++k) {
      Line &a = lines_[k], &b = lines_[k + 1];
      if (!a.is_pure || !b.is_pure || pick(2) == 0) continue;
      const bool shares = std::ranges::any_of(
          a.registers, [&](const std::string& name) { return b.registers.contains(name); });
      if (!shares) std::swap(a, b);
    }
  }

  void add_dead() {
    for (std::uint32_t k = 0, count = 1 + pick(3); k < count; ++k) {
      const std::size_t at = pick(lines_.size());
      if (lines_[at].is_chained) continue;
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), {.text = dead_, .label = ""});
    }
  }

  // Blocks, cut at labels, after branches and at some other places, in another order.
  std::string in_other_order() {
    struct Piece {
      std::string name, text;
      bool ends = false;
    };
    std::vector<Piece> pieces = {{.name = "", .text = ""}};
    const auto begin = [&](std::string name) {
      if (name.empty()) name = fmt::format("{}_piece_{}", function_.name, pieces.size());
      pieces.push_back({.name = name, .text = name + ":\n"});
    };
    for (std::size_t k = 0; k < lines_.size(); ++k) {
      const Line& line = lines_[k];
      if (!line.label.empty()) {
        begin(line.label);
        continue;
      }
      const bool is_behind = k != 0 && lines_[k - 1].branches;
      const bool is_cut = !line.is_chained && (is_behind || (k >= kWhole && pick(6) == 0));
      if (is_cut && lines_[k - 1].label.empty()) begin("");
      pieces.back().text += line.text + "\n";
      pieces.back().ends = line.ends;
    }
    for (std::size_t k = 0; k < pieces.size(); ++k) {
      if (pieces[k].ends) continue;
      pieces[k].text += k + 1 == pieces.size() ? "ret;\n" : "bra " + pieces[k + 1].name + ";\n";
    }
    std::shuffle(pieces.begin() + 1, pieces.end(), random_);
    std::string text;
    for (const Piece& piece : pieces) text += piece.text;
    return text;
  }

  std::mt19937_64 random_;
  const std::string dead_;
  const ptx::Function& function_;
  std::string declared_;
  std::map<std::string, std::string> renamed_;
  std::vector<Line> lines_;
};

}  // namespace

std::string metamorphosed(
    const std::string& module,
    const std::function<std::optional<Metamorphosis>(std::string_view kernel)>& of) {
  const auto parsed = ptx::ParsedModule::parse(module, "metamorphosis.ptx");
  std::string text;
  std::size_t done = 0;
  for (const ptx::Function* kernel : parsed->entries()) {
    const std::optional<Metamorphosis> how = of(kernel->name);
    if (!how) continue;
    const auto at = static_cast<std::size_t>(kernel->body_text().data() - parsed->text().data());
    text += parsed->text().substr(done, at - done);
    text += Body(*kernel, *how).changed();
    done = at + kernel->body_text().size();
  }
  return text + parsed->text().substr(done);
}

}  // namespace baton::verdicts
