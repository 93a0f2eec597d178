#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace baton {

// The name of a tensor, or of one for each index: "layers.{layer}.w".
class TensorPattern {
 public:
  // Throws kInvalidInput for braces that do not enclose one name.
  explicit TensorPattern(std::string_view text);

  bool is_stacked() const { return is_stacked_; }
  // The name for an index; the text itself if it is not stacked.
  std::string name(std::int64_t index) const;

 private:
  std::string before_, after_;  // the braces
  bool is_stacked_ = false;
};

}  // namespace baton
