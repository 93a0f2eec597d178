#pragma once

// What nvJitLink's functions look like to their callers (nvJitLink.h of CUDA 13, which a build need
// not have).
#include <cstddef>
#include <cstdint>

namespace baton::kept {

using LinkResult = int;  // 0: success
using LinkHandle = void*;

inline constexpr int kLinkPtx = 2;  // kinds of inputs

using LinkCreateFunction = LinkResult (*)(LinkHandle* handle, std::uint32_t count,
                                          const char** options);
using LinkAddFunction = LinkResult (*)(LinkHandle handle, int kind, const void* data,
                                       std::size_t bytes, const char* name);
using LinkSizeFunction = LinkResult (*)(LinkHandle handle, std::size_t* bytes);
using LinkGetFunction = LinkResult (*)(LinkHandle handle, void* bytes);
using LinkEndFunction = LinkResult (*)(LinkHandle* handle);
using LinkCompleteFunction = LinkResult (*)(LinkHandle handle);

}  // namespace baton::kept
