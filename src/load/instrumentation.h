#pragma once

#include <string>
#include <string_view>

#include "baton/kernel_module.h"
#include "baton/module.h"
#include "load/kernel_definition.h"

namespace baton::load {

// Instruments the kernels of a module in its PTX, rewritten, compiled or given, and notes in the
// module what came of each. Machine code has no trace, unless PTX comes with it.
void instrument_kernels(const KernelDefinition& definition, const Device& device,
                        KernelModule& module);
// The instrumented PTX does not load, for that reason.
void forget_instrumented(KernelModule& module, const std::string& reason);
// Notes the registers of a loaded, instrumented kernel, and gives `facts` those that it had before.
void note_registers(const Kernel& kernel, std::string_view name, const Device& device,
                    KernelFacts& facts, KernelModule& module);

}  // namespace baton::load
