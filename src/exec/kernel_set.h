#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "baton/executable.h"
#include "baton/module.h"
#include "baton/program.h"

namespace baton::exec {

// The kernels of a program, compiled and loaded on one device. Equal definitions (source bytes,
// prelude, includes and options; or image bytes) are one module.
class KernelSet {
 public:
  // Throws what reading, compiling and loading throw, at the kernel's place in the program.
  KernelSet(const Program& program, const Device& device, const PrepareOptions& options);

  // By the name in the program; it is there.
  const Kernel& kernel(std::string_view name) const { return at(name).kernel; }
  const Module& module(std::string_view name) const { return modules_[at(name).module]; }

  const std::vector<Executable::CompiledKernels>& compiled() const { return compiled_; }

 private:
  struct Loaded {
    std::string name;
    std::size_t module;  // into modules_
    Kernel kernel;
  };
  struct Group;

  const Loaded& at(std::string_view name) const;
  Module load(const Group& group, const Device& device, const PrepareOptions& options);

  std::vector<Module> modules_;
  std::vector<Loaded> kernels_;
  std::vector<Executable::CompiledKernels> compiled_;
};

}  // namespace baton::exec
