#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::bind {

// Tells the name of a kernel's parameter, by the kernel's name in the program; empty if it is not
// known. It may compile, and is called for messages alone.
using ParamNaming = std::function<std::string(std::string_view kernel, std::size_t index)>;

// Which value of a launch it is: an argument, or a field of an argument that is a struct. Messages
// name it, so that its text is made only for them.
struct ValuePlace {
  std::string_view kernel;  // in the program, whose text outlives this
  std::size_t argument = 0;
  const ParamNaming* naming = nullptr;  // outlives this
  std::vector<std::size_t> fields{};    // the struct's own field first, then a field of it

  ValuePlace field(std::size_t number) const;
  // "argument 2 of saxpy", "field 1 of field 0 of argument 2 of saxpy"
  std::string text() const;
  // "alpha"; empty for a field, and where it is not known.
  std::string parameter_name() const;
};

}  // namespace baton::bind
