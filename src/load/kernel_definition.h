#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baton/compile.h"
#include "baton/image.h"
#include "baton/kernel_module.h"
#include "baton/program.h"

namespace baton::load {

// What one or more kernels of a program are made from: a source or an image, read. Kernels with
// equal definitions (source bytes, prelude, includes and options; or image bytes) share one.
struct KernelDefinition {
  std::optional<Source> source;  // else an image
  std::optional<Image> image;
  std::optional<Compiled> compiled;           // of a source that was compiled before, for a bundle
  std::vector<const ProgramKernel*> kernels;  // owned by the program; at least one

  // The path of the file, or "<kernel k>" for text in the program.
  const std::string& name() const { return image ? image->name() : source->name; }
};

// Reads every file that the program's kernels name. In the order of the first kernel of each.
// Throws what reading throws, at the kernel's place in the program.
std::vector<KernelDefinition> read_definitions(const Program& program);

// Compiles a definition that is a source, with the entries of all its kernels, unless it comes
// compiled. Throws what compiling throws.
Compiled compile(const KernelDefinition& definition, const std::string& arch, bool use_cache);

// What the definition's kernels are, by its images alone: for people who have no device for them.
// Throws what compiling, reading and finding the kernels throw, at the kernel's place.
KernelModule describe(KernelDefinition definition, const std::string& arch, bool use_cache);

// Does `work`; what it throws gains the kernel's place.
template <typename Work>
auto at_kernel(const ProgramKernel& kernel, Work&& work) {
  try {
    return work();
  } catch (Error& failure) {
    failure.at(kernel.where);
    throw;
  }
}

}  // namespace baton::load
