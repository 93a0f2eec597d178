#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace baton::image {

// Unpacks one raw LZ4 block ("LZ4 Block Format Description") of exactly `size` bytes, or nothing
// where the block is broken or gives another size. Takes no more memory than that.
std::optional<std::string> unpack_lz4(std::string_view block, std::size_t size);

}  // namespace baton::image
