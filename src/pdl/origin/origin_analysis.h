#pragma once

// Where the addresses of a kernel come from: for each register and for local memory, the origins
// that any of their definitions gives them. The order of operations plays no role.

#include <set>
#include <utility>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/origin/origin_pool.h"

namespace baton::overlap {

struct KernelOrigins {
  OriginPool pool;
  // By operation: what the address of its access may be, or that of the format that it prints by;
  // empty for operations without one.
  std::vector<OriginSet> addresses;
  // What decides branches, selections and predicated operations. If an address has gone in, a
  // value may depend on it without having been computed from it.
  OriginSet conditions;
  // What is written to memory in another form than as an address. If an address has gone in, what
  // is read from memory is not a mere index.
  OriginSet stored;
  // Addresses that are left in memory that loads may read, in parts or as they are, and those of
  // them that may be left in memory of the block. The difference of two that are loaded again leads
  // from one buffer to another.
  OriginSet left, left_in_block;
  // Whether an address in local memory, or in that of parameters, is left in other memory.
  bool leaves_places = false;
  // Addresses whose lowest bits have become numbers: with these, an address of another view of the
  // same 256 bytes can be formed.
  OriginSet aligned;
  // What is compared as it was given, two by two. The outcome counts as a number: of two addresses
  // it is their order. With numbers of the launch it may tell where an address lies.
  std::set<std::pair<AddressSource, AddressSource>> compared;
  std::uint64_t evaluations = 0;  // how often an operation was evaluated
};

KernelOrigins find_origins(const Code& code);

}  // namespace baton::overlap
