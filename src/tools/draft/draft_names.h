#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"
#include "image/debug_params.h"

namespace baton::tools {

// Whether the argument of a scalar is guessed to be the number of elements along an axis.
bool is_count(const ParamFacts& param);

// The name of a field as a part of a buffer's: "range_first" for "range.first".
std::string underscored(std::string name);

// The names in a draft: those of the kernels' parameters where they are known.
class DraftNames {
 public:
  DraftNames(const std::vector<KernelFacts>& kernels, image::DebugParams param_names);

  // The symbol of the size along each axis: "n" where all kernels call their one count so, else
  // "N".
  const std::string& size() const { return size_; }

  // The name of a parameter as the source has it; empty if it is not known, or no plain name.
  std::string param(const KernelFacts& kernel, std::size_t index) const;

  // The fields of a struct by value; empty if they are not known.
  std::vector<image::DebugField> fields(const KernelFacts& kernel, std::size_t index) const;

  // The name of the buffer for a pointer, which no other call returns. `kernel` comes first in it;
  // empty for the only kernel of a draft. `param`: the parameter's name.
  std::string buffer(std::string_view kernel, const std::string& param, std::size_t index);

 private:
  const image::DebugParam* find(const KernelFacts& kernel, std::size_t index) const;
  std::string name_of_count(const std::vector<KernelFacts>& kernels) const;

  image::DebugParams param_names_;
  std::string size_ = "N";
  std::set<std::string> used_;
};

}  // namespace baton::tools
