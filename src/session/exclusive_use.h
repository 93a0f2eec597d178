#pragma once

#include <atomic>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace baton {

// Whether a thread is in a call of an object that serves one thread at a time.
class UseMark {
 private:
  friend class ExclusiveUse;
  std::atomic<bool> is_used_ = false;
};

// One call of such an object. A second thread's call is refused instead of being undefined, as far
// as the two calls overlap.
class ExclusiveUse {
 public:
  // `call` and `program` name both in the message. Throws kInvalidInput.
  ExclusiveUse(UseMark& mark, std::string_view call, const std::string& program) : mark_(mark) {
    if (!mark.is_used_.exchange(true, std::memory_order_acquire)) return;
    throw error(ErrorCode::kInvalidInput,
                "{}() of the bound program {} was called while another call of it goes on; give "
                "each thread an Executable of its own (they may share one LoadedProgram)",
                call, printable(program));
  }
  ExclusiveUse(const ExclusiveUse&) = delete;
  ExclusiveUse& operator=(const ExclusiveUse&) = delete;
  ~ExclusiveUse() { mark_.is_used_.store(false, std::memory_order_release); }

 private:
  UseMark& mark_;
};

}  // namespace baton
