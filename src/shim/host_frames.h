#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace baton::shim {

// A place of the host's code on the stack of the calling thread.
struct HostFrame {
  const void* address = nullptr;  // in the instruction that called
  std::string_view object;        // the file that holds it; empty where that is not known
  const void* base = nullptr;     // the address of the file's first byte
  std::string_view function;      // that others may call by this name; empty: none
};

// The calls that led here, the nearest first, without those of this function.
std::vector<HostFrame> host_frames();

// "fill+0x1f (a.out+0x11ce)": the function, also one that only its file knows, and where the
// instruction is in the file, for addr2line.
std::string describe(const HostFrame& frame);

}  // namespace baton::shim
