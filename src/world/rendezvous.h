#pragma once

#include <chrono>
#include <vector>

#include "base/file/file_descriptor.h"
#include "baton/error.h"
#include "world/launcher.h"

namespace baton::world {

// Rank 0 ended after this rank had connected: rank 0 prints the reason.
class LeftByFirstRank : public Error {
 public:
  using Error::Error;
};

// Connects a process with all other ranks of its run, and returns the connections by rank; the
// entry of this rank has none. Rank 0 listens at the address that all ranks know. Each other rank
// connects to it and gets the addresses of the others. Throws kNoDevice where ranks are missing
// after `patience`, and kInvalidInput for a port that is taken, by another run too. Throws
// LeftByFirstRank.
std::vector<FileDescriptor> meet(const LaunchedRank& self, std::chrono::milliseconds patience);

}  // namespace baton::world
