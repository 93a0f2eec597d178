#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "baton/compile.h"
#include "baton/program.h"
#include "image/kernel_index.h"

namespace baton::load {

// Finds the kernels that a program names in one image: by `entry`, or, where a kernel has none, by
// the kernel's own name in the program, or as the image's only kernel. Refers to the facts, the
// compile and the image's name, which must outlive it unchanged.
class KernelEntries {
 public:
  // `compiled`: null for an image that the program gives; else its name expressions are entries.
  KernelEntries(const ImageFacts& facts, const Compiled* compiled, std::string_view image_name);

  // Throws what find_kernel throws.
  const KernelFacts& of(const ProgramKernel& kernel) const;

 private:
  const image::KernelIndex index_;
  std::unordered_map<std::string_view, std::string_view> symbols_;  // of name expressions
  const std::string_view image_name_;
};

}  // namespace baton::load
