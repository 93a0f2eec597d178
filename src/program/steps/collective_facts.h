#pragma once

#include <array>
#include <span>
#include <string_view>

#include "baton/program.h"

namespace baton {

// What tells the kinds of collectives apart: their keys in a program file, and what they access.
struct CollectiveFacts {
  CollectiveKind kind;
  std::string_view name;
  std::array<std::string_view, 7> keys;  // empty ones end the list
  bool moves;                            // between `from` and `to`; otherwise it has one `buffer`
  bool reduces;                          // it has an `op`
  std::string_view peer;                 // the key of a rank; empty: it has none
  bool reads, writes;                    // the one buffer, where it does not move
};

const CollectiveFacts& facts_of(CollectiveKind kind);
std::span<const CollectiveFacts> all_collectives();

}  // namespace baton
