#pragma once

#include <string>

namespace baton::record {

// A part of what is said of a program.
struct Section {
  std::string name;  // "footprint"
  std::string text;
};

}  // namespace baton::record
