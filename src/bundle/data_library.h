#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace baton::bundle {

// A shared library in ELF with one symbol for data, made for this processor and without code. The
// data are not here: the file is `head`, then the data, then `tail`.
struct DataLibrary {
  std::string head;
  std::string tail;

  // `symbol` is the name of `size` bytes (more than 0), which begin on a page.
  static DataLibrary make(std::string_view symbol, std::uint64_t size);
};

}  // namespace baton::bundle
