#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::sim {

// Accesses that are single-copy atomic, of 1 to 16 bytes.
void load_strong(const std::byte* from, void* to, std::uint32_t bytes);
void store_strong(std::byte* to, const void* from, std::uint32_t bytes);

}  // namespace baton::sim
