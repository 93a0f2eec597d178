#include "image/cubin/ptx_section.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace baton::image {
namespace {

constexpr std::string_view kBlank = " \t\r\n,";

class SectionReader {
 public:
  explicit SectionReader(std::string_view text) : text_(text) {}

  std::optional<PtxSection> read() {
    for (std::string_view word = next(); !word.empty(); word = next()) {
      if (word.ends_with(':')) {
        section_.labels.emplace(word.substr(0, word.size() - 1), section_.bytes.size());
      } else if (const int width = width_of(word); width != 0) {
        width_ = width;
      } else if (!add(word)) {
        return std::nullopt;
      }
    }
    return std::move(section_);
  }

 private:
  // The next word; empty at the end. Braces and comments are none.
  std::string_view next() {
    while (true) {
      const std::size_t begin = text_.find_first_not_of(kBlank);
      if (begin == std::string_view::npos) return {};
      text_.remove_prefix(begin);
      if (text_.starts_with("//")) {
        text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
      } else if (text_[0] == '{' || text_[0] == '}') {
        text_.remove_prefix(1);
      } else {
        break;
      }
    }
    const std::string_view word = text_.substr(0, text_.find_first_of(kBlank));
    text_.remove_prefix(word.size());
    return word;
  }

  static int width_of(std::string_view directive) {
    if (directive == ".b8") return 1;
    if (directive == ".b16") return 2;
    if (directive == ".b32") return 4;
    if (directive == ".b64") return 8;
    return 0;
  }

  // A number, a label, or "label+number".
  bool add(std::string_view word) {
    if (width_ == 0) return false;
    const char first = word[0];
    const bool is_number = first == '-' || (first >= '0' && first <= '9');
    const std::string_view label = is_number ? "" : word.substr(0, word.find('+'));
    std::string_view digits = word.substr(label.size());
    if (digits.starts_with('+')) digits.remove_prefix(1);
    std::uint64_t value = 0;
    if (is_number || !digits.empty()) {
      const auto number = parse(digits);
      if (!number) return false;
      value = *number;
    }
    if (!label.empty()) section_.references.emplace(section_.bytes.size(), label);
    for (int i = 0; i < width_; ++i) section_.bytes += static_cast<char>(value >> (8 * i));
    return true;
  }

  static std::optional<std::uint64_t> parse(std::string_view digits) {
    const bool is_negative = digits.starts_with('-');
    if (is_negative) digits.remove_prefix(1);
    const bool is_hex = digits.starts_with("0x");
    if (is_hex) digits.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, failure] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
    if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return is_negative ? 0 - value : value;
  }

  std::string_view text_;
  int width_ = 0;
  PtxSection section_;
};

}  // namespace

std::optional<PtxSection> read_section(const ptx::Section& section) {
  return SectionReader(section.text).read();
}

}  // namespace baton::image
