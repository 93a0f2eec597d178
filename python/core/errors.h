#pragma once

#include <cxxabi.h>

#include <string>
#include <vector>

#include "baton/error.h"
#include "baton/finding.h"
#include "core/python.h"

namespace baton::python {

// The meaning of ErrorCode::kInvalidInput in a call: of arguments it is an ArgumentError, which is
// also a TypeError; of files and names it is a plain Error.
enum class Subject { kText, kArguments };

// Sets Python's error indicator for the C++ exception that is being handled.
void set_error(Subject subject) noexcept;

// Sets the indicator to an exception for `failure`. Findings become its `findings`.
void set_error(const Error& failure, Subject subject,
               const std::vector<FindingReport>& findings = {});

// Throws ArgumentError, whatever a call's errors mean otherwise.
[[noreturn]] void throw_argument_error(const std::string& message);

// Throws FindingError with these findings.
[[noreturn]] void throw_findings(const std::vector<FindingReport>& findings);

// The unwinding of a thread that Python ends: see `sleep_until_exit`. The C++ runtime of zig has no
// such class, and its `catch (...)` lets that unwinding pass.
#if defined(__GLIBCXX__)
#define BATON_CATCH_END_OF_THREAD       \
  catch (const abi::__forced_unwind&) { \
    sleep_until_exit();                 \
  }
#else
#define BATON_CATCH_END_OF_THREAD
#endif

// Runs the body of a function that Python calls. What it throws becomes Python's exception.
template <typename Body>
PyObject* guarded(Body&& body, Subject subject = Subject::kText) noexcept {
  try {
    return body().release();
  }
  BATON_CATCH_END_OF_THREAD
  catch (...) {
    set_error(subject);
    return nullptr;
  }
}

// The same for slots that return an int.
template <typename Body>
int guarded_status(Body&& body, Subject subject = Subject::kText) noexcept {
  try {
    body();
    return 0;
  }
  BATON_CATCH_END_OF_THREAD
  catch (...) {
    set_error(subject);
    return -1;
  }
}

}  // namespace baton::python
