#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "ptx/ast.h"

namespace baton::image {

// The header of a PTX module that has the code of several.
struct LinkTarget {
  std::pair<int, int> version;  // the latest
  std::string text;             // "sm_90a, texmode_independent"
  int address_size = 64;
};

// The header for all of the modules, of which there is at least one. Throws kCompile where no GPU
// runs all of them, or where their address sizes or texturing modes differ.
LinkTarget common_target(std::span<const std::shared_ptr<const ptx::ParsedModule>> modules);

}  // namespace baton::image
