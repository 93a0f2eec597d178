#include "program/tensor_pattern.h"

#include "base/error.h"
#include "base/text/text.h"

namespace baton {

TensorPattern::TensorPattern(std::string_view text) {
  const std::size_t open = text.find('{');
  const std::size_t close = text.find('}');
  if (open == std::string_view::npos && close == std::string_view::npos) {
    before_ = text;
    return;
  }
  const bool is_pair = open != std::string_view::npos && close != std::string_view::npos &&
                       close > open + 1 && text.find_first_of("{}", close + 1) == text.npos &&
                       text.find('{', open + 1) == text.npos;
  if (!is_pair) {
    throw error(ErrorCode::kInvalidInput,
                "the tensor \"{}\" has braces that enclose no index; write one {{index}} in it",
                printable(text));
  }
  before_ = text.substr(0, open);
  after_ = text.substr(close + 1);
  is_stacked_ = true;
}

std::string TensorPattern::name(std::int64_t index) const {
  return is_stacked_ ? before_ + std::to_string(index) + after_ : before_;
}

}  // namespace baton
