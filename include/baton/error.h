#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "baton/export.h"

namespace baton {

// What kind of thing went wrong. `exit_status` maps each to the command line's status.
enum class ErrorCode {
  kInvalidInput,  // a file, name, expression, argument or option is wrong
  kNotFound,      // a file, entry, buffer or option that was named does not exist
  kCompile,       // the CUDA or PTX compiler refused a source
  kLimit,         // a launch asks for more than the device or the kernel allows
  kMismatch,      // a result differs from what was expected
  kFault,         // a kernel faulted, trapped or broke a rule of the memory it was given
  kTimeout,       // a run took longer than it was allowed to
  kDamaged,       // stored data fails its checksum
  kNoDevice,      // no such device, or a driver that is present does not start
  kOutOfMemory,   // device or pinned memory ran out
  kDriver,        // the driver refused a call for no reason above
  kUnsupported,   // the device lacks an instruction or a feature
  kInterrupted,   // the user stopped the run
  kInternal,      // a bug in Baton
};

// The name used in JSON results, such as "invalid_input".
BATON_API std::string_view to_string(ErrorCode code) noexcept;

// The exit status of the command line for an error of this kind: 1 a wrong program or kernel,
// 2 bad input, 3 a device or driver that failed, 130 interrupted.
BATON_API int exit_status(ErrorCode code) noexcept;

// A place in a text that a user wrote. Line and column count from 1; 0 means unknown.
struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;

  bool known() const { return !file.empty(); }
  // "file:line:column", leaving out what is unknown.
  BATON_API std::string to_string() const;
};

// The one exception that Baton throws. Objects are values: copy and move them freely; one object
// must not be changed by two threads at once.
class BATON_API Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, SourceLocation where = {});

  ErrorCode code() const noexcept { return code_; }
  // One sentence: what, both values, and what to do. Without the location.
  const std::string& message() const noexcept { return message_; }
  const SourceLocation& where() const noexcept { return where_; }
  // Further lines, such as a compiler's log or the source line with a caret.
  const std::vector<std::string>& notes() const noexcept { return notes_; }
  // The driver's own number (CUresult) where its refusal is what this tells of, else 0.
  int driver_result() const noexcept { return driver_result_; }

  Error& note(std::string text) &;
  Error&& note(std::string text) &&;
  // Sets the location if none is known yet: callers that know the file add it on the way up.
  Error& at(SourceLocation where) &;
  Error& of_driver(int result) &;

  // "file:line:column: message" followed by the notes, one a line.
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  void compose();

  ErrorCode code_;
  std::string message_;
  SourceLocation where_;
  std::vector<std::string> notes_;
  std::string what_;
  int driver_result_ = 0;
};

}  // namespace baton
