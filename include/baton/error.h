#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "baton/forward.h"

namespace baton {

// The kind of an error. `exit_status` maps each kind to the command line's status.
enum class ErrorCode {
  kInvalidInput,  // a file, name, expression, argument or option is wrong
  kNotFound,      // a file, entry, buffer or option that was named does not exist
  kCompile,       // the CUDA or PTX compiler rejected a source
  kLimit,         // a launch exceeds a limit of the device or the kernel
  kMismatch,      // a result differs from what was expected
  kFault,         // a kernel faulted, trapped or accessed memory wrongly
  kTimeout,       // a run exceeded its time limit
  kDamaged,       // stored data other than a bundle fails its checksum
  kNoDevice,      // no such device, or a driver that is present does not start
  kOutOfMemory,   // device or pinned memory ran out
  kDriver,        // the driver rejected a call for another reason
  kUnsupported,   // the device lacks an instruction or a feature
  kInterrupted,   // the user stopped the run
  kInternal,      // a bug in Baton
};

// The name in JSON results, such as "invalid_input".
BATON_API std::string_view to_string(ErrorCode code) noexcept;

// The exit status of the command line for an error of this kind: 1 a wrong program or kernel, 2 bad
// input, 3 a failed device or driver, 130 interrupted.
BATON_API int exit_status(ErrorCode code) noexcept;

// The name of a file. Immutable: copies share the text, so that each part of a program keeps its
// place at a small cost. Reads as a std::string.
class BATON_API FileName {
 public:
  FileName() noexcept = default;
  FileName(std::string text);                                       // NOLINT: implicit by design
  FileName(std::string_view text) : FileName(std::string(text)) {}  // NOLINT
  FileName(const char* text) : FileName(std::string(text)) {}       // NOLINT

  const std::string& text() const noexcept;
  operator const std::string&() const noexcept { return text(); }  // NOLINT
  operator std::string_view() const noexcept { return text(); }    // NOLINT
  bool empty() const noexcept { return text_ == nullptr; }

  friend bool operator==(const FileName& a, const FileName& b) noexcept {
    return a.text_ == b.text_ || a.text() == b.text();
  }
  template <typename Text,
            typename = std::enable_if_t<std::is_convertible_v<const Text&, std::string_view>>>
  friend bool operator==(const FileName& a, const Text& b) noexcept {
    return std::string_view(a) == std::string_view(b);
  }
  template <typename Text>
  friend bool operator!=(const FileName& a, const Text& b) noexcept {
    return !(a == b);
  }

 private:
  std::shared_ptr<const std::string> text_;  // null for an empty name
};

// A place in a text of the user. Line and column count from 1; 0 means unknown.
struct SourceLocation {
  FileName file;
  int line = 0;
  int column = 0;

  bool known() const { return !file.empty(); }
  // "file:line:column", without the unknown parts.
  BATON_API std::string to_string() const;
};

// The exception that Baton throws. A value, whose copies share what it says: copying never throws.
// Two threads must not change one object at the same time.
class BATON_API Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, SourceLocation where = {});

  // There is no move: an Error always says something.
  Error(const Error& other) noexcept = default;
  Error& operator=(const Error& other) noexcept = default;
  ~Error() override;

  ErrorCode code() const noexcept;
  // One sentence: what is wrong, both values, and what to do. Without the location.
  const std::string& message() const noexcept;
  const SourceLocation& where() const noexcept;
  // Further lines, such as a compiler's log or the source line with a caret.
  const std::vector<std::string>& notes() const noexcept;
  // The driver's own number (CUresult) if the driver rejected a call, otherwise 0.
  int driver_result() const noexcept;

  Error& note(std::string text) &;
  Error&& note(std::string text) &&;
  // Sets the location if it is unknown: callers that know the file add it.
  Error& at(SourceLocation where) &;
  Error& of_driver(int result) &;

  // "file:line:column: message", then one note a line.
  const char* what() const noexcept override;

 private:
  struct Content;
  std::shared_ptr<const Content> content_;
};

}  // namespace baton
