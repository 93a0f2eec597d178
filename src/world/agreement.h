#pragma once

#include <string>
#include <vector>

#include "world/communicator.h"

namespace baton::world {

// One thing that all ranks must have alike: "the symbol N" is "4096".
struct Agreed {
  std::string what;
  std::string value;
};

// Holds the lists of all ranks against each other: hashes first, and the lists themselves where
// these differ. Throws kInvalidInput, on every rank, with the first difference and both ranks.
void agree(Communicator& ranks, const std::vector<Agreed>& list);

}  // namespace baton::world
