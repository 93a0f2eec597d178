#pragma once

#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "base/thread_gate.h"

namespace baton {

// One call of an object that serves one thread at a time. Refuses a second thread's call that
// overlaps it.
class ExclusiveUse {
 public:
  // `call` and `program` name both in the message. Throws kInvalidInput.
  ExclusiveUse(ThreadGate& gate, std::string_view call, const std::string& program) : gate_(gate) {
    if (gate.enter()) return;
    throw error(ErrorCode::kInvalidInput,
                "{}() of the bound program {} was called while another call of it goes on; give "
                "each thread an Executable of its own (they may share one LoadedProgram)",
                call, printable(program));
  }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;
  ~ExclusiveUse() { gate_.leave(); }

 private:
  ThreadGate& gate_;
};

}  // namespace baton
