#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "baton/kernel_module.h"
#include "load/kernel_definition.h"
#include "pdl/rewrite/rewrite.h"

namespace baton::load {

// Which kernels of a program are rewritten for a wait for the launch before them, by what the
// program, the options and BATON_PDL say; and what they may do before it, by what the program
// passes them.
class Rewrites {
 public:
  // Throws kInvalidInput for a BATON_PDL that there is not.
  Rewrites(const Program& program, const Device& device, const LoadOptions& options);

  // Rewrites the kernels of the definition in the module's PTX, compiled or given, and notes it in
  // the module. Throws kInvalidInput, at the kernel, where kernels that are one function say
  // different things.
  void apply(const KernelDefinition& definition, KernelModule& module) const;
  // Throws kInvalidInput, at the kernel, where the program insists on what could not be.
  void insist(const KernelDefinition& definition, const KernelModule& module) const;

 private:
  // All launches of a kernel together.
  struct Use {
    bool may_start_early = false;  // some launch of it
    bool follows_launch = false;   // some launch of those
    bool is_launched = false;
    std::vector<overlap::EarlyArgument> params;
  };
  struct Wanted;

  void walk(const std::vector<ProgramStep>& steps, bool in_group);
  void note(const LaunchStep& step, bool follows_launch);
  overlap::EarlyArgument use_of(const LaunchArgument& argument) const;
  RewriteMode mode_of(const ProgramKernel& kernel) const;
  std::vector<Wanted> wanted_of(const KernelDefinition& definition, const KernelModule& module,
                                const Image& ptx) const;
  static void note(const overlap::RewrittenKernel& done, const Wanted& wanted,
                   KernelModule& module);

  const Program program_;
  const PdlMode pdl_;
  const RewriteMode default_;
  bool off_ = false;
  bool has_pdl_ = false;
  bool constant_memory_ = true;
  std::unordered_map<std::string, Use> uses_;  // by kernel
};

}  // namespace baton::load
