#pragma once

#include <string_view>

#include "base/error.h"
#include "base/system/thread_gate.h"
#include "base/text/text.h"
#include "baton/loaded_program.h"

namespace baton {

// One call of an object that serves one thread at a time. Refuses a second thread's call that
// overlaps it.
class ExclusiveUse {
 public:
  // `call` and `loaded` name both in the message. Throws kInvalidInput.
  ExclusiveUse(ThreadGate& gate, std::string_view call, const LoadedProgram& loaded) : gate_(gate) {
    if (!gate.enter()) [[unlikely]]
      refuse(call, loaded);
  }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;
  ~ExclusiveUse() { gate_.leave(); }

 private:
  [[noreturn]] static void refuse(std::string_view call, const LoadedProgram& loaded) {
    throw error(ErrorCode::kInvalidInput,
                "{}() of the bound program {} was called while another call of it goes on; give "
                "each thread an Executable of its own (they may share one LoadedProgram)",
                call, printable(loaded.program().name()));
  }

  ThreadGate& gate_;
};

}  // namespace baton
