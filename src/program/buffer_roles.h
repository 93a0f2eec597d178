#pragma once

#include <string>
#include <string_view>

#include "baton/program.h"

namespace baton {

// What a buffer's role means to a run.
struct RoleFacts {
  BufferRole role;
  std::string_view name;  // in a program file
  bool takes_input;       // an array of the caller's can be its first contents
  bool needs_contents;    // it is read before it is written, so that something must be in it
  bool once;              // it gets its contents when the program is bound, not in each run
  bool is_result;         // it is downloaded after the first run
  bool is_constant;       // no step writes it, but one of the setup
  bool in_setup;          // setup steps may use it
};

const RoleFacts& facts_of(BufferRole role);

// Whether it keeps what the steps write from run to run: a state or a cache.
bool is_kept(BufferRole role);

// Whether setup steps may write the buffer although no other step may: a weight without contents.
bool is_made_by_setup(const ProgramBuffer& buffer);

// The names of the roles with a fact, for messages: "input, weight and inout".
std::string names_of_roles(bool RoleFacts::*fact);

}  // namespace baton
