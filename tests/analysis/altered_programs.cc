#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <random>
#include <span>
#include <string_view>

#include "analysis/programs.h"
#include "base/error.h"

namespace baton::record {
namespace {

// Words that take each other's place.
const std::vector<std::vector<std::string_view>>& alike() {
  static const std::vector<std::vector<std::string_view>> kAlike = {
      {"lt", "le", "gt", "ge", "eq", "ne"},
      {"u32", "s32", "b32"},
      {"u64", "s64", "b64"},
      {"u16", "s16", "u8", "s8"},
      {"add", "sub"},
      {"and", "or", "xor"},
      {"min", "max"},
      {"mul", "mad"},
      {"lo", "wide", "hi"},
      {"shl", "shr"},
      {"cta", "gpu", "cluster", "sys"},
      {"acquire", "relaxed", "volatile"},
      {"release", "relaxed"},
      {"global", "shared", "local"},
      {"sync", "arrive"},
      {"ld", "st"},
      {"ret", "exit", "trap"},
      {"wait", "launch_dependents"},
      {"x", "y", "z"},
      {"tid", "ntid", "ctaid", "nctaid"}};
  return kAlike;
}

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '$';
}

// The text of a module, in which a few things are changed at random.
class Alteration {
 public:
  Alteration(std::string_view text, std::uint64_t seed) : random_(seed) {
    split(text);
    const std::size_t count = 1 + pick(3);
    for (std::size_t k = 0; k < count && !places_.empty(); ++k) alter();
  }
  std::string text() const {
    std::string all;
    for (const std::string& piece : pieces_) all += piece;
    return all;
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }

  // Into statements; those that do something are places.
  void split(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool ends = text[at] == ';' || text[at] == '{' || text[at] == '}' || text[at] == '\n' ||
                        text[at] == ':';
      const bool is_inside = text[at] == ':' && at + 1 < text.size() && text[at + 1] == ':';
      const bool was_inside = text[at] == ':' && at > 0 && text[at - 1] == ':';
      if (!ends || is_inside || was_inside) continue;
      add(text.substr(begin, at + 1 - begin));
      begin = at + 1;
    }
    pieces_.emplace_back(text.substr(begin));
  }
  void add(std::string_view piece) {
    const std::size_t first = piece.find_first_not_of(" \t\n");
    const bool acts =
        first != std::string_view::npos && piece.ends_with(';') &&
        (std::islower(static_cast<unsigned char>(piece[first])) != 0 || piece[first] == '@') &&
        piece.find("call") == std::string_view::npos;
    if (acts) places_.push_back(pieces_.size());
    pieces_.emplace_back(piece);
    if (!acts) return;
    for (const auto& [at, length] : words(piece)) {
      const std::string word(piece.substr(at, length));
      if (word[0] == '%') registers_[kind_of(word)].push_back(word);
    }
  }

  using Words = std::vector<std::pair<std::size_t, std::size_t>>;
  static Words words(std::string_view piece) {
    Words found;
    for (std::size_t at = 0; at < piece.size();) {
      if (!is_of_word(piece[at])) {
        ++at;
        continue;
      }
      std::size_t end = at;
      while (end < piece.size() && is_of_word(piece[end])) ++end;
      found.emplace_back(at, end - at);
      at = end;
    }
    return found;
  }
  // Registers of one kind have a name in common, but for its number.
  static std::string kind_of(const std::string& name) {
    return name.substr(0, name.find_first_of("0123456789"));
  }

  void alter() {
    const std::size_t which = pick(places_.size());
    std::string& piece = pieces_[places_[which]];
    switch (pick(8)) {
      case 0:
        piece = " ";
        return;
      case 1:
        piece += piece;
        return;
      case 2:
        std::swap(piece, pieces_[places_[(which + 1) % places_.size()]]);
        return;
      case 3:
        return guard(piece);
      default:
        return change_a_word(piece);
    }
  }

  void guard(std::string& piece) {
    const std::size_t at = piece.find('@');
    if (at != std::string::npos) {
      if (piece[at + 1] == '!') {
        piece.erase(at + 1, 1);
      } else {
        piece.insert(at + 1, "!");
      }
      return;
    }
    const auto found = registers_.find("%p");
    if (found == registers_.end()) return;
    const std::string& predicate = found->second[pick(found->second.size())];
    piece.insert(piece.find_first_not_of(" \t\n"), fmt::format("@{} ", predicate));
  }

  void change_a_word(std::string& piece) {
    static constexpr std::array<std::string_view, 16> kNumbers = {
        "0",  "1",  "2",  "3",   "4",    "5",          "8",          "16",
        "31", "32", "33", "128", "4096", "0x7fffffff", "0x80000000", "-1"};
    const Words all = words(piece);
    if (all.empty()) return;
    const auto [at, length] = all[pick(all.size())];
    const std::string word = piece.substr(at, length);
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
      piece.replace(at, length, kNumbers[pick(kNumbers.size())]);
      return;
    }
    if (word[0] == '%') {
      const std::vector<std::string>& others = registers_[kind_of(word)];
      if (!others.empty()) piece.replace(at, length, others[pick(others.size())]);
      return;
    }
    for (const std::vector<std::string_view>& group : alike()) {
      if (std::ranges::find(group, word) == group.end()) continue;
      piece.replace(at, length, group[pick(group.size())]);
      return;
    }
  }

  std::mt19937_64 random_;
  std::vector<std::string> pieces_;
  std::vector<std::size_t> places_;
  std::map<std::string, std::vector<std::string>> registers_;  // as they occur, by kind
};

CaseGroup altered(const RecordedProgram& program, std::uint64_t seed) {
  constexpr std::uint64_t kAlterations = 3;
  CaseGroup group{program.name, {}};
  for (std::uint64_t k = 0; k < kAlterations; ++k) {
    RecordedProgram other = program;
    other.name += fmt::format("/{}", k);
    try {
      other.module = ptx::ParsedModule::parse(
          Alteration(program.module->text(), kAlterations * seed + k).text(), other.name);
    } catch (const Error&) {
      continue;  // no text that can be read
    }
    bool has_all = true;
    for (RecordedLaunch& launch : other.launches) {
      launch.kernel = other.module->function(launch.kernel->name);
      has_all = has_all && launch.kernel != nullptr;
    }
    if (has_all) group.programs.push_back(std::move(other));
  }
  return group;
}

}  // namespace

std::vector<CaseGroup> altered_programs() {
  constexpr std::size_t kOfEach = 24;
  std::vector<std::vector<RecordedProgram>> all;
  for (const ChainFamily& family : chain_families()) {
    ChainFamily few = family;
    few.count = kOfEach;
    all.push_back(chain_programs(few));
  }
  all.insert(all.end(), {number_programs(), loop_programs(), passing_programs()});
  std::vector<CaseGroup> groups;
  for (const std::vector<RecordedProgram>& programs : all) {
    for (const RecordedProgram& program : std::span(programs).first(kOfEach)) {
      groups.push_back(altered(program, groups.size()));
    }
  }
  return groups;
}

}  // namespace baton::record
