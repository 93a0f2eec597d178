#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::tools {

// The symbols of a draft that are sizes of a kernel's buffers.
struct DraftSize {
  std::vector<std::string> symbols;  // distinct, at least one

  // The size along one of the axes of a buffer, as an expression; axis 0 is the innermost. Names
  // such as width, height and depth have an axis. For others it is the largest symbol, so that no
  // access is outside.
  std::string along(int axis, int axes) const;
};

// Names by which authors call a number of elements: "n", "num_rows", "size", "width".
bool sounds_like_a_size(std::string_view name);

// Names of numbers that count no elements: "seed", "level", "step", "mode".
bool sounds_like_a_choice(std::string_view name);

}  // namespace baton::tools
