#pragma once

#include "base/error.h"

namespace baton::python {

// What `read` returns. Its errors say what is wrong with something, and begin with a verb; they get
// their subject here, such as "the array to copy".
template <typename Read>
auto with_subject(const char* subject, const Read& read) {
  try {
    return read();
  } catch (const Error& failure) {
    throw error(failure.code(), "{} {}", subject, failure.message());
  }
}

}  // namespace baton::python
