#pragma once

#include <cstdint>
#include <string>

namespace baton::record {

// A kernel k(u64 p0, u64 p1, u64 p2, u32 p3, u64 p4, struct p5) of integer arithmetic at its
// limits: conditions, counted loops and addresses depend on it. It need not be of any use.
std::string number_kernel(std::uint64_t seed, const std::string& name);

}  // namespace baton::record
