#pragma once

namespace baton::peer {

// The text of all_reduce.ptx, or of all_reduce_90.ptx, whose all-reduces wait for the launch before
// them and may start early. Only the first one has the epilogue alone. It ends with a zero.
const char* kernels_ptx(bool waits);

}  // namespace baton::peer
