#pragma once

#include "baton/error.h"

namespace baton::ptx {

// PTX of a version that is newer than all that are known. The code is kInvalidInput.
class VersionError : public Error {
 public:
  explicit VersionError(const Error& error) : Error(error) {}
};

}  // namespace baton::ptx
