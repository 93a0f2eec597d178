#pragma once

// Puts programmatic dependent launch into kernels that have none: a wait for the launch before, at
// the latest place that still precedes whatever depends on it (placement.h), on request a trigger
// of the launch after, and plain loads in place of the non-coherent ones that no wait orders.
// Kernels that wait themselves keep their waits and triggers where they are, and get what else
// there is to do. What is inserted stands on the lines that are there, so that all places in the
// text stay what they were.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pdl/rewrite/placement.h"

namespace baton::overlap {

struct RewriteRequest {
  const ptx::Function* kernel = nullptr;  // of the module
  EarlyWork early;
  TriggerPlace trigger = TriggerPlace::kNowhere;
};

struct Change {
  enum class Kind : std::uint8_t { kWait, kTrigger, kPlainLoad };
  Kind kind = Kind::kWait;
  std::string where;  // "norm.cu:14": of the instruction that it stands before, or that is changed
  std::string because;
};

struct RewrittenKernel {
  std::string kernel;           // its symbol
  std::string obstacle;         // why it cannot be changed and is left as it is, else empty
  std::string own;              // as in Placement; without changes, nothing was to be done
  std::vector<Change> changes;  // empty where it is left as it is
};

struct Rewriting {
  std::shared_ptr<const ptx::ParsedModule> module;  // null where all are left as they are
  std::vector<RewrittenKernel> kernels;             // by request
};

// The result is read again: in every kernel that was rewritten each thread waits on every path, or
// as it did where the waits are the kernel's own, and all that may not be early comes after, by no
// non-coherent load but those of textures. What cannot be read, or proven, is left as it is; the
// bodies of functions that several kernels call may gain plain loads. Work and memory are bounded
// whatever the text is.
Rewriting rewrite(const std::shared_ptr<const ptx::ParsedModule>& module,
                  std::span<const RewriteRequest> requests);

}  // namespace baton::overlap
