#pragma once

#include <cstddef>
#include <string>

namespace baton {

// Takes the memory of the pages that lie in the range from the system at once, as the system gives
// it: one by one, at their first use, takes several times as long. Their contents stay.
void populate(void* begin, std::size_t bytes) noexcept;

// So many bytes, all 0. Many are populated.
std::string zero_bytes(std::size_t size);

}  // namespace baton
