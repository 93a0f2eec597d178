#pragma once

#include <string>
#include <utility>
#include <vector>

namespace baton::metadata {

// Adds what is odd about an input. A hostile one has no end of it: the first are enough.
inline void remark(std::vector<std::string>& remarks, std::string text) {
  constexpr std::size_t kMaxRemarks = 64;
  if (remarks.size() < kMaxRemarks) {
    remarks.push_back(std::move(text));
  } else if (remarks.size() == kMaxRemarks) {
    remarks.push_back("there is more of this, which is left out");
  }
}

}  // namespace baton::metadata
