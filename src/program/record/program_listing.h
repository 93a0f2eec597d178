#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "program/record/program_fields.h"

namespace baton {

// The fields of a definition as texts, each with its way from the definition: "kernels[2].entry".
class ProgramListing {
 public:
  struct Line {
    std::string way;
    std::string value;
    friend bool operator==(const Line& a, const Line& b) = default;
  };

  explicit ProgramListing(const ProgramDefinition& program) { fields(*this, program); }

  const std::vector<Line>& lines() const { return lines_; }

  template <typename T>
  void field(std::string_view name, const T& value) {
    within(fmt::format("{}{}", way_.empty() ? "" : ".", name), [&] { list(value); });
  }
  // What is in memory says nothing as a text.
  template <typename T>
  void in_memory(const char*, const T&) {}

 private:
  template <typename Work>
  void within(const std::string& step, Work&& work) {
    const std::size_t size = way_.size();
    way_ += step;
    work();
    way_.resize(size);
  }
  void say(std::string value) { lines_.push_back({way_, std::move(value)}); }

  void list(bool value) { say(value ? "true" : "false"); }
  void list(std::size_t value) { say(std::to_string(value)); }
  void list(std::int64_t value) { say(std::to_string(value)); }
  void list(double value) { say(fmt::format("{}", value)); }
  void list(const std::string& value) { say(fmt::format("\"{}\"", value)); }
  void list(const std::filesystem::path& value) { list(value.string()); }
  void list(const SourceLocation& where) {
    say(fmt::format("{}:{}:{}", where.file.text(), where.line, where.column));
  }
  void list(const Expression& value) {
    list(value.text());
    list(value.where());
  }
  void list(const FloatExpression& value) {
    list(value.text());
    list(value.where());
  }
  template <typename T>
  requires std::is_enum_v<T>
  void list(T value) {
    if constexpr (requires { to_string(value); }) {
      say(std::string(to_string(value)));
    } else {
      say(fmt::format("choice {}", static_cast<int>(value)));
    }
  }
  template <typename T>
  void list(const std::optional<T>& value) {
    if (value) return list(*value);
    say("nothing");
  }
  template <typename T>
  void list(const std::vector<T>& items) {
    say(fmt::format("{} items", items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      within(fmt::format("[{}]", i), [&] { list(items[i]); });
    }
  }
  template <typename... Kinds>
  void list(const std::variant<Kinds...>& value) {
    say(fmt::format("kind {}", value.index()));
    std::visit([this](const auto& kind) { list(kind); }, value);
  }
  template <PartWithFields Part>
  void list(const Part& part) {
    fields(*this, part);
  }

  std::string way_;
  std::vector<Line> lines_;
};

}  // namespace baton
