#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "verdicts/generated_chain.h"

namespace baton::record {

// A generator of chains, with how many of its seeds are recorded, a multiple of 32.
struct ChainFamily {
  std::string name;
  verdicts::GeneratedChain (*generate)(std::uint64_t seed);
  std::uint64_t count = 0;
};
const std::vector<ChainFamily>& chain_families();

}  // namespace baton::record
