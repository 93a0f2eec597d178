#pragma once

#include <string>
#include <vector>

#include "baton/kernel_module.h"
#include "pdl/rewrite/rewrite.h"

namespace baton::load {

// Why source with these options is not rewritten: one of them is for the assembler, which does not
// see the rewritten PTX. Otherwise empty.
std::string rewrite_obstacle(const std::vector<std::string>& options);

// What rewriting is asked for, and what it did, between the room that does it and its users.
overlap::TriggerPlace trigger_of(RewriteMode mode);
KernelRewrite public_rewrite(std::string kernel, RewriteMode mode,
                             const overlap::RewrittenKernel& done);

}  // namespace baton::load
