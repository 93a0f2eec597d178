#include "bind/buffers.h"

#include "base/array/array.h"
#include "base/error.h"

namespace baton::bind {

std::uint32_t buffer_index(const BufferTable& buffers, const std::string& name) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].definition->name == name) return static_cast<std::uint32_t>(i);
  }
  throw error(ErrorCode::kInternal, "the buffer {} was checked and is not there", name);
}

std::string title_of(const BoundBuffer& buffer) {
  return fmt::format("buffer {} ({} {})", buffer.definition->name,
                     to_string(buffer.definition->dtype), shape_text(buffer.shape));
}

std::string place_text(const BufferOffset& place) {
  return place.offset ? place.buffer + " + " + place.offset->text() : place.buffer;
}

std::uint64_t row_bytes(const BoundBuffer& cache) {
  std::uint64_t bytes = cache.element_size();
  for (std::size_t i = cache.definition->frozen->axis + 1; i < cache.shape.size(); ++i) {
    bytes *= static_cast<std::uint64_t>(cache.shape[i]);
  }
  return bytes;
}

}  // namespace baton::bind
