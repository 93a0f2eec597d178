#include "capi/handle.h"

#include "base/log.h"

namespace baton::capi {

void report_misuse(std::string_view kind, bool same_kind, std::string_view call) noexcept {
  try {
    if (same_kind) {
      log(LogLevel::kError, "{}_{}: the handle was released before; the call has no effect", kind,
          call);
    } else {
      log(LogLevel::kError, "{}_{}: the pointer is not a {}; the call has no effect", kind, call,
          kind);
    }
  } catch (...) {
    // There is no memory for the message, and no caller to tell.
  }
}

}  // namespace baton::capi
