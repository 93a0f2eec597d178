#pragma once

namespace baton::peer {

// The text of all_reduce.ptx, which ends with a zero.
const char* kernels_ptx();

}  // namespace baton::peer
