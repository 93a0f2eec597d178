#pragma once

#include <string>
#include <string_view>

#include "baton/metadata.h"

namespace baton::metadata {

// TVM's binary forms: function infos of three, four and six fields, and the containers of modules
// around them. Nothing in them says how many fields there are, except in the newest: what uses all
// bytes exactly is what it is.

// A module's payload, of either version.
ModuleMetadata read_tvm_module(std::string_view bytes, const std::string& name,
                               FoundMetadata& found);

// A module's payload, or one function info alone.
ModuleMetadata read_tvm_binary(std::string_view bytes, const std::string& name,
                               FoundMetadata& found);

}  // namespace baton::metadata
