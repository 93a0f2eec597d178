#pragma once

#include <vector>

#include "pdl/code/code.h"

namespace baton::overlap {

// By operation: whether it is a shuffle that no lane at another instruction takes part in. Lanes
// meet in shuffles of the same qualifiers and mask (PTX ISA, "shfl.sync"). So all lanes of a mask
// execute such shuffles in one order, and the k-th one of a lane is the k-th one of the others.
std::vector<bool> find_lone_shuffles(const Code& code);

}  // namespace baton::overlap
