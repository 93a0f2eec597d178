#pragma once

#include "capi/call.h"

namespace baton::capi {

// Runs `body` on a program, if no other thread is in it. The program lives until the end of the
// call, even where another thread releases it meanwhile.
template <typename Body>
baton_error* call_program(const char* function, baton_program* program, Body&& body) noexcept {
  return call(function, [&](const Call& call) {
    ProgramContent& content = call.get(program, "program");
    const HandleReference<baton_program> reference(program);
    const Call::Turn turn(call, content.use, baton_program::kName);
    body(call, content.instance);
  });
}

}  // namespace baton::capi
