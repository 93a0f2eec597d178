#pragma once

#include <bit>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/file/byte_writer.h"
#include "program/record/program_fields.h"

namespace baton {

// Writes the fields of a definition: what ProgramRecordReader reads. Numbers take seven bits a
// byte, the lowest first. Texts are numbers in a table that holds each once.
class ProgramRecordWriter {
 public:
  // `document` is the name of the program's text, which every reader gives anew.
  explicit ProgramRecordWriter(std::string_view document) : document_(document) {}

  template <typename T>
  void field(const char*, const T& value) {
    write(value);
  }
  template <typename T>
  void in_memory(const char* name, const T& value) {
    bool is_there = false;
    if constexpr (requires { value.empty(); }) {
      is_there = !value.empty();
    } else {
      is_there = static_cast<bool>(value);
    }
    if (!is_there) return;
    throw error(ErrorCode::kInvalidInput, "the record of a program cannot hold {} in memory", name);
  }

  // The table of texts, then the fields.
  std::string take() {
    ByteWriter out;
    number(out, texts_.size());
    for (const std::string_view text : texts_) {
      number(out, text.size());
      out.bytes(text);
    }
    out.bytes(fields_.view());
    return out.take();
  }

 private:
  static void number(ByteWriter& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.number(static_cast<std::uint8_t>(value | 0x80));
    out.number(static_cast<std::uint8_t>(value));
  }
  void number(std::uint64_t value) { number(fields_, value); }

  std::uint64_t number_of(std::string_view text) {
    const auto [found, is_new] = numbers_.try_emplace(std::string(text), texts_.size());
    if (is_new) texts_.push_back(found->first);
    return found->second;
  }

  void write(bool value) { number(value ? 1 : 0); }
  void write(std::size_t value) { number(value); }
  // Numbers near zero are short.
  void write(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  // So are doubles with few digits.
  void write(double value) { number(__builtin_bswap64(std::bit_cast<std::uint64_t>(value))); }
  void write(const std::string& value) { number(number_of(value)); }
  void write(const std::filesystem::path& value) { number(number_of(value.string())); }
  void write(const SourceLocation& where) {
    if (where.file.empty()) {
      number(0);
    } else if (where.file == document_) {
      number(1);
    } else {
      number(2 + number_of(where.file.text()));
    }
    number(static_cast<std::uint64_t>(where.line));
    number(static_cast<std::uint64_t>(where.column));
  }
  void write(const Expression& value) {
    write(value.text());
    write(value.where());
  }
  void write(const FloatExpression& value) {
    write(value.text());
    write(value.where());
  }
  template <typename T>
  requires std::is_enum_v<T>
  void write(T value) { number(static_cast<std::uint64_t>(value)); }
  template <typename T>
  void write(const std::optional<T>& value) {
    number(value ? 1 : 0);
    if (value) write(*value);
  }
  template <typename T>
  void write(const std::vector<T>& list) {
    number(list.size());
    for (const T& item : list) write(item);
  }
  template <typename... Kinds>
  void write(const std::variant<Kinds...>& value) {
    number(value.index());
    std::visit([this](const auto& kind) { write(kind); }, value);
  }
  template <PartWithFields Part>
  void write(const Part& part) {
    fields(*this, part);
  }

  std::string_view document_;
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
  std::vector<std::string_view> texts_;  // the keys of `numbers_`
  ByteWriter fields_;
};

}  // namespace baton
