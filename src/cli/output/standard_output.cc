#include "cli/output/standard_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/basics.h"

namespace baton::cli {

StandardOutput::StandardOutput(bool reserved) {
  if (!reserved) return;
  std::fflush(stdout);
  const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0) return;  // standard output is closed: `write` reports it
  own_ = fdopen(kept, "w");
  if (own_ == nullptr) {
    close(kept);
    return;
  }
  if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return;
  // Standard error is closed: nothing shows what the others print.
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nothing, STDOUT_FILENO);
  if (nothing > STDERR_FILENO) close(nothing);
}

StandardOutput::~StandardOutput() {
  if (own_ == nullptr) return;
  std::fflush(stdout);
  dup2(fileno(own_), STDOUT_FILENO);
  std::fclose(own_);
}

void StandardOutput::write(std::string_view text) {
  std::FILE* const stream = own_ != nullptr ? own_ : stdout;
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (written && std::fflush(stream) == 0) return;
  const int reason = errno;
  std::clearerr(stream);
  if (reason == EPIPE) return;
  throw error(ErrorCode::kInvalidInput, "standard output cannot be written: {}",
              std::strerror(reason));
}

}  // namespace baton::cli
