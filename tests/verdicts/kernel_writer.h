#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <utility>

namespace baton::verdicts {

// What the generators of kernels share: chance, fresh names and lines of PTX. Not thread-safe.
class KernelWriter {
 public:
  explicit KernelWriter(std::uint64_t seed) : random_(seed) {}

  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  bool chance(std::uint32_t percent) { return pick(100) < percent; }
  std::string_view any(std::initializer_list<std::string_view> choices) {
    return choices.begin()[pick(static_cast<std::uint32_t>(choices.size()))];
  }

  // Names that are not used yet: registers of 64, 32, 16 and 8 bits, of 128, floats, a predicate.
  std::string wide() { return fmt::format("%d{}", wides_++); }
  std::string word() { return fmt::format("%r{}", words_++); }
  std::string half() { return fmt::format("%h{}", halves_++); }
  std::string quad() { return fmt::format("%q{}", quads_++); }
  std::string real() { return fmt::format("%f{}", reals_++); }
  std::string predicate() { return fmt::format("%p{}", predicates_++); }
  std::string label() { return fmt::format("L{}", labels_++); }

  template <typename... Parts>
  void line(fmt::format_string<Parts...> text, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Parts>(parts)...);
    text_ += '\n';
  }

  const std::string& text() const { return text_; }
  std::string declarations() const {
    return fmt::format(
        ".reg .b64 %d<{}>; .reg .b32 %r<{}>; .reg .b16 %h<{}>; .reg .b128 %q<{}>;\n"
        ".reg .f64 %f<{}>; .reg .pred %p<{}>;\n",
        wides_ + 1, words_ + 1, halves_ + 1, quads_ + 1, reals_ + 1, predicates_ + 1);
  }

 private:
  std::mt19937_64 random_;
  std::string text_;
  unsigned wides_ = 0, words_ = 0, halves_ = 0, quads_ = 0, reals_ = 0, predicates_ = 0,
           labels_ = 0;
};

}  // namespace baton::verdicts
