#pragma once

#include <optional>
#include <string>
#include <vector>

#include "baton/compile.h"
#include "baton/image.h"
#include "baton/kernel_module.h"
#include "baton/link.h"
#include "baton/program.h"

namespace baton::load {

// What one or more kernels of a program are made from, read. Kernels with equal definitions (source
// bytes, prelude, includes and options; image bytes; all of a link's inputs) share one.
struct KernelDefinition {
  // The path of the file, the paths of a link, or "<kernel k>" for text in the program.
  std::string name;
  std::optional<Source> source;
  std::optional<Image> image;
  std::vector<LinkInput> link;
  // What was compiled or linked before, by the caller or for a bundle.
  std::optional<Compiled> compiled;
  bool from_bundle = false;
  std::vector<const ProgramKernel*> kernels;  // owned by the program; at least one
};

// Reads every file that the program's kernels name. In the order of the first kernel of each.
// Throws what reading throws, at the kernel's place in the program.
std::vector<KernelDefinition> read_definitions(const Program& program);

// Sets `compiled` or `image` of a module: compiles a source and links a link, with the entries of
// all kernels. What was made before moves from the definition into the module. Throws what
// compiling and linking throw.
void make(KernelDefinition& definition, CompileOptions options, KernelModule& module);

// What the definition's kernels are, by its images alone: for people who have no device for them.
// Parameters have their names. Throws what compiling, reading and finding the kernels throw, at the
// kernel's place.
KernelModule describe(KernelDefinition definition, const std::string& arch, bool use_cache);

// Notes in a module what it was made from.
void take_origin(KernelDefinition definition, KernelModule& module);

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
