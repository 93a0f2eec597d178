#pragma once

#include <string>
#include <vector>

#include "world/communicator.h"

namespace baton::world {

// A value that must be equal on all ranks: "the symbol N" is "4096".
struct Agreed {
  std::string what;
  std::string value;
};

// Compares the lists of all ranks: first their hashes, then the lists themselves where the hashes
// differ. Throws kInvalidInput, on every rank, with the first difference and both ranks.
void agree(Communicator& ranks, const std::vector<Agreed>& list);

}  // namespace baton::world
