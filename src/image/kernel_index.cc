#include "image/kernel_index.h"

#include <array>
#include <cctype>
#include <unordered_map>

#include "base/error.h"
#include "base/text/suggest.h"

namespace baton {
namespace image {
namespace {

// Looking at so many names takes less time than a table of them.
constexpr std::size_t kFew = 8;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Without spaces but those between two words, without the suffixes of integers ("128u" is "128"),
// and with CUDA's own names for its aliases: two spellings of one name become equal.
std::string normalised(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '\t') {
      const std::size_t next = text.find_first_not_of(" \t", i);
      if (next == std::string_view::npos) break;
      if (!out.empty() && is_word(out.back()) && is_word(text[next])) out += ' ';
      i = next;
    } else if (is_word(text[i])) {
      std::size_t end = i;
      while (end < text.size() && is_word(text[end])) ++end;
      std::string_view word = text.substr(i, end - i);
      i = end;
      if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
        const std::size_t digits = word.find_last_not_of("uUlL");
        word = word.substr(0, digits + 1);
      } else if (word == "half") {
        word = "__half";
      } else if (word == "nv_bfloat16") {
        word = "__nv_bfloat16";
      }
      out += word;
    } else {
      out += text[i++];
    }
  }
  return out;
}

// Where the outermost "(" (or "<") that closes at the very end of `text` opens; npos without one.
std::size_t opening(std::string_view text, char open, char close) {
  if (text.empty() || text.back() != close) return std::string_view::npos;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    // "->" and comparisons stand inside parentheses in a demangled name; those are skipped whole.
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
    if (open == '<' && text[i] == ')') {
      const std::size_t group = opening(text.substr(0, i + 1), '(', ')');
      if (group == std::string_view::npos) return group;
      i = group;
    }
  }
  return std::string_view::npos;
}

std::string_view without_params(std::string_view name) {
  const std::size_t at = opening(name, '(', ')');
  return at == std::string_view::npos || at == 0 ? name : name.substr(0, at);
}

std::string_view without_template_args(std::string_view name) {
  const std::size_t at = opening(name, '<', '>');
  return at == std::string_view::npos ? name : name.substr(0, at);
}

// After the last "::" that is not inside template arguments or parentheses.
std::string_view without_scope(std::string_view name) {
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (depth == 0 && c == ':' && i + 1 < name.size() && name[i + 1] == ':') start = i + 2;
  }
  return name.substr(start);
}

// The ways a kernel can be called, from the exact to the loose. A looser one is asked only where no
// kernel answers to the stricter.
using Reading = std::string_view (*)(std::string_view);
constexpr std::array<Reading, 5> kReadings = {
    [](std::string_view name) { return name; },
    [](std::string_view name) { return without_params(name); },
    [](std::string_view name) { return without_template_args(without_params(name)); },
    [](std::string_view name) { return without_scope(without_params(name)); },
    [](std::string_view name) {
      return without_scope(without_template_args(without_params(name)));
    },
};

// Short names; overloads, which share one, in full.
std::vector<std::string> entry_names(const ImageFacts& facts) {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, int> uses;
  for (const KernelFacts& kernel : facts.kernels) {
    ++uses[without_params(kernel.demangled)];
  }
  for (const KernelFacts& kernel : facts.kernels) {
    const std::string_view brief = without_params(kernel.demangled);
    if (kernel.demangled.empty()) {
      names.push_back(kernel.name);
    } else {
      names.emplace_back(uses[brief] > 1 ? kernel.demangled : brief);
    }
  }
  return names;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 20;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i) {
    out += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kMost) out += fmt::format(", and {} more", names.size() - kMost);
  return out;
}

[[noreturn]] void throw_ambiguous(std::string_view entry, std::string_view image_name,
                                  const std::vector<const KernelFacts*>& found) {
  std::vector<std::string> names;
  for (const KernelFacts* kernel : found) names.push_back(kernel->demangled);
  throw error(ErrorCode::kInvalidInput,
              "entry \"{}\" of {} fits {} kernels: {}; name one of them in full", entry, image_name,
              found.size(), listed(names));
}

}  // namespace

struct KernelIndex::Loose {
  std::vector<std::string> names;  // normalised, by kernel
  // By reading: what a name reads as, and the kernels that do.
  std::array<std::unordered_map<std::string_view, std::vector<const KernelFacts*>>,
             kReadings.size()>
      readings;
};

KernelIndex::KernelIndex(const ImageFacts& facts) : facts_(facts) {
  if (facts.kernels.size() <= kFew) return;
  by_symbol_.reserve(facts.kernels.size());
  for (const KernelFacts& kernel : facts.kernels) by_symbol_.emplace(kernel.name, &kernel);
}

KernelIndex::~KernelIndex() = default;

const KernelFacts* KernelIndex::symbol(std::string_view name) const {
  if (facts_.kernels.size() <= kFew) return facts_.kernel(name);
  const auto found = by_symbol_.find(name);
  return found == by_symbol_.end() ? nullptr : found->second;
}

const KernelIndex::Loose& KernelIndex::loose() const {
  std::call_once(once_, [this] {
    auto made = std::make_unique<Loose>();
    for (const KernelFacts& kernel : facts_.kernels) {
      made->names.push_back(normalised(kernel.demangled.empty() ? kernel.name : kernel.demangled));
    }
    for (std::size_t i = 0; i < made->names.size(); ++i) {
      for (std::size_t reading = 0; reading < kReadings.size(); ++reading) {
        made->readings[reading][kReadings[reading](made->names[i])].push_back(&facts_.kernels[i]);
      }
    }
    loose_ = std::move(made);
  });
  return *loose_;
}

std::vector<const KernelFacts*> KernelIndex::looser_matches(std::string_view entry) const {
  std::string wanted = normalised(entry);
  if (wanted.starts_with("::")) wanted.erase(0, 2);
  for (const auto& reading : loose().readings) {
    const auto found = reading.find(wanted);
    if (found != reading.end()) return found->second;
  }
  return {};
}

const KernelFacts& KernelIndex::find_or_only(std::string_view name,
                                             std::string_view image_name) const {
  if (facts_.kernels.size() <= 1) return find("", image_name);
  if (const KernelFacts* exact = symbol(name)) return *exact;
  const std::vector<const KernelFacts*> found = looser_matches(name);
  if (found.empty()) return find("", image_name);
  if (found.size() > 1) throw_ambiguous(name, image_name, found);
  return *found[0];
}

const KernelFacts& KernelIndex::find(std::string_view entry, std::string_view image_name) const {
  if (facts_.kernels.empty()) {
    throw error(ErrorCode::kNotFound,
                "{} holds no kernel; a template or static kernel exists only where an entry names "
                "it",
                image_name);
  }
  if (entry.empty()) {
    if (facts_.kernels.size() == 1) return facts_.kernels[0];
    throw error(ErrorCode::kInvalidInput,
                "{} holds {} kernels and no entry was named: {}; name one of them", image_name,
                facts_.kernels.size(), listed(entry_names(facts_)));
  }
  if (const KernelFacts* exact = symbol(entry)) return *exact;
  const std::vector<const KernelFacts*> found = looser_matches(entry);
  if (found.size() == 1) return *found[0];
  if (found.size() > 1) throw_ambiguous(entry, image_name, found);
  const std::vector<std::string> available = entry_names(facts_);
  const std::vector<std::string_view> views(available.begin(), available.end());
  const std::string_view near = nearest(entry, {views.data(), views.size()});
  throw error(ErrorCode::kNotFound, "{} has no kernel \"{}\"; it has: {}{}", image_name, entry,
              listed(available), near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near));
}

}  // namespace image

const KernelFacts& find_kernel(const ImageFacts& facts, std::string_view entry,
                               std::string_view image_name) {
  return image::KernelIndex(facts).find(entry, image_name);
}

}  // namespace baton
