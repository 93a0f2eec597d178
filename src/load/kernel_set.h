#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/name_map.h"
#include "baton/kernel_module.h"
#include "baton/module.h"
#include "baton/program.h"
#include "load/kernel_definition.h"
#include "load/load_count.h"
#include "load/rewrites.h"

namespace baton::load {

// The kernels of a program, compiled and loaded on one device: one module a definition.
class KernelSet {
 public:
  // Of the program's definitions, read from its files or from a bundle. Throws what compiling and
  // loading throw, at the kernel's place in the program.
  KernelSet(const Program& program, std::vector<KernelDefinition> definitions, const Device& device,
            const LoadOptions& options);

  // By the name in the program; it is there.
  const Kernel& kernel(std::string_view name) const { return at(name).kernel; }
  const Module& module(std::string_view name) const { return modules_[at(name).module]; }
  // Kernels with equal numbers are in one module.
  std::size_t module_number(std::string_view name) const { return at(name).module; }
  // The PTX that the module's machine code is made from, by Baton or by the driver; else null.
  const Image* ptx(std::string_view name) const;

  const std::vector<KernelModule>& modules() const { return reports_; }
  // Whether kernels were to be instrumented (LoadOptions::instrument).
  bool is_instrumented() const { return is_instrumented_; }

 private:
  struct Loaded {
    std::size_t module;  // into modules_
    Kernel kernel;
  };

  const Loaded& at(std::string_view name) const;
  // Loads what `reports_` have.
  void load_modules(const std::vector<KernelDefinition>& definitions, const Device& device,
                    LoadCount& count);
  void take_kernels(const KernelDefinition& definition, const Device& device, std::size_t number);

  bool assemble_ = false;
  bool is_instrumented_ = false;
  std::vector<KernelModule> reports_;  // of each definition
  std::vector<Module> modules_;        // the same, loaded
  NameMap<Loaded> kernels_;
};

}  // namespace baton::load
