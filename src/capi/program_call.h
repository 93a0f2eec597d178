#pragma once

#include "capi/call.h"

namespace baton::capi {

// Runs `body` on a program, if no other thread is in it. The program lives until the end of the
// call, even where another thread releases it meanwhile.
template <typename Body>
void with_program(const Call& call, baton_program* program, Body&& body) {
  ProgramContent& content = call.get(program, "program");
  const HandleReference<baton_program> reference(program);
  const Call::Turn turn(call, content.gate, baton_program::kName);
  body(content.instance);
}

// A function of the interface that does this alone.
template <typename Body>
baton_error* call_program(const char* function, baton_program* program, Body&& body) noexcept {
  return call(function, [&](const Call& call) {
    with_program(call, program, [&](ProgramInstance& instance) { body(call, instance); });
  });
}

}  // namespace baton::capi
