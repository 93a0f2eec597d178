#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"
#include "image/cubin/debug_params.h"
#include "tools/draft/draft_size.h"

namespace baton::tools {

// Whether the argument of a scalar is guessed to be a number of elements. `name`: the parameter's.
bool is_count(const ParamFacts& param, std::string_view name);
// The same of a field of a struct.
bool is_count(const image::DebugField& field);

// The name of a field as a part of a buffer's: "range_first" for "range.first", "x_1" for "x[1]".
std::string underscored(std::string_view name);

// The names in a draft: those of the kernels' parameters where they are known.
class DraftNames {
 public:
  DraftNames(const std::vector<KernelFacts>& kernels, image::DebugParams param_names);

  // The symbol of a count: as the source calls it, such as "n"; "N" where no name is known.
  std::string count(const KernelFacts& kernel, std::size_t index) const;
  // The same of a field of a struct.
  std::string count(const image::DebugField& field) const;
  // The symbols of the sizes of a kernel's buffers: its counts that sound like a size, else all of
  // them, else "N".
  DraftSize size(const KernelFacts& kernel) const;

  // The name of a parameter as the source has it; empty if it is not known, or no plain name.
  std::string param(const KernelFacts& kernel, std::size_t index) const;

  // The bytes of an element that a pointer leads to; 0 if they are not known.
  std::uint64_t element_size(const KernelFacts& kernel, std::size_t index) const;
  // Whether the parameter is a texture or surface object.
  bool is_texture(const KernelFacts& kernel, std::size_t index) const;

  // The fields of a struct by value; empty if they are not known.
  std::vector<image::DebugField> fields(const KernelFacts& kernel, std::size_t index) const;

  // The name of the buffer for a pointer, which no other call returns. `kernel` comes first in it;
  // empty for the only kernel of a draft. `param`: the parameter's name.
  std::string buffer(std::string_view kernel, const std::string& param, std::size_t index);

 private:
  const image::DebugParam* find(const KernelFacts& kernel, std::size_t index) const;
  // Calls `visit` with the symbol of each count of a kernel.
  template <typename Visit>
  void for_each_count(const KernelFacts& kernel, Visit&& visit) const;

  image::DebugParams param_names_;
  std::set<std::string> used_;
};

}  // namespace baton::tools
