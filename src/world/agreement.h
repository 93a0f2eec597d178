#pragma once

#include <optional>
#include <string>
#include <vector>

#include "world/group_link.h"

namespace baton::world {

// A value that must be equal on all ranks: "the symbol N" is "4096".
struct Agreed {
  std::string what;
  std::string value;
};

// What is compared, for messages. Equal on all ranks of the group.
struct AgreementTopic {
  std::string what;    // "the ranks' programs"
  std::string advice;  // how the ranks come to agree: "start all ranks with the same program"
};

// Compares the lists of all ranks of a group: first their hashes, then the lists themselves where
// the hashes differ. Throws kInvalidInput, on every rank of the world, with the first difference
// and both ranks. A rank without a list agrees with any.
void agree(const GroupLink& ranks, const AgreementTopic& topic,
           const std::optional<std::vector<Agreed>>& list);

}  // namespace baton::world
