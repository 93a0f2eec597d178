#include "base/error.h"
#include "base/text/text.h"
#include "baton/program.h"
#include "program/expression/expression_code.h"

namespace baton {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

}  // namespace

// The name, then nothing, or "+" and an expression. All of ASCII, so that bytes count columns.
BufferOffset::BufferOffset(std::string_view text, SourceLocation place) : where(place) {
  const auto at = [&](std::size_t position) {
    SourceLocation inside = place;
    if (inside.column > 0) inside.column += static_cast<int>(position);
    return inside;
  };
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  buffer = leading_word(text.substr(begin));
  if (buffer.empty()) {
    throw error_at(at(begin), ErrorCode::kInvalidInput,
                   "expected the name of a buffer, found \"{}\"", printable(text));
  }
  where = at(begin);
  const std::size_t next = text.find_first_not_of(kSpaces, begin + buffer.size());
  if (next == std::string_view::npos) return;
  if (text[next] != '+') {
    throw error_at(at(next), ErrorCode::kInvalidInput,
                   "only \"+ expression\" may follow the buffer {}, in \"{}\"", buffer,
                   printable(text));
  }
  const std::size_t start = std::min(text.find_first_not_of(kSpaces, next + 1), text.size());
  offset = Expression(text.substr(start), at(start));
}

}  // namespace baton
