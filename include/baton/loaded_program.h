#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "baton/bindings.h"
#include "baton/bundle.h"
#include "baton/check.h"
#include "baton/device.h"
#include "baton/forward.h"
#include "baton/kernel_module.h"
#include "baton/program.h"
#include "baton/tune_choices.h"

namespace baton {

class LoadedProgramState;

// A program compiled and loaded for one device. Immutable: threads may share it, and copies refer
// to the same kernels. Executables of one loaded program run at the same time in several threads.
class BATON_API LoadedProgram {
 public:
  // Compiles and loads every kernel of the program. Throws the errors of reading images, compiling
  // and loading, at the kernel's place in the program.
  static LoadedProgram load(const Program& program, const Device& device,
                            const LoadOptions& options = {});

  // Loads the kernels of a bundle: machine code for the device, otherwise PTX. Needs no compiler
  // and no file but the bundle. Throws kInvalidInput if the bundle has no image for the device or
  // is damaged, and the errors of loading.
  static LoadedProgram load(const Bundle& bundle, const Device& device,
                            const LoadOptions& options = {});

  // The same with choices that tuning made (baton/tune.h). Throws also what `with_choices` throws.
  static LoadedProgram load(const Bundle& bundle, const Device& device, const TuneChoices& choices,
                            const LoadOptions& options = {});

  const Program& program() const;
  const Device& device() const;
  // The module of a kernel of the program. Throws kNotFound.
  const Module& module(std::string_view kernel) const;
  const std::vector<KernelModule>& modules() const;

  // Gives symbols their values and checks the whole program for them as Executable::bind does.
  // Allocates no memory for buffers and reads no contents. Throws what `bind` throws for a program
  // that is wrong; edges are in the report.
  CheckReport check(const Bindings& bindings = {}) const;

 private:
  friend class Executable;
  explicit LoadedProgram(std::shared_ptr<const LoadedProgramState> state);
  std::shared_ptr<const LoadedProgramState> state_;
};

}  // namespace baton
