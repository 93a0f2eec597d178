#include "play/host_test.h"

#include <cstring>

namespace baton::play {

bool HostTest::holds(const bind::BoundBuffer& buffer, const Stream& stream, const RunWatch& watch) {
  if (!reader_) reader_.emplace(device_);
  const std::size_t size = buffer.element_size();
  buffer.memory->download(reader_->value.data(), size, 0, stream);
  reader_->end.record(stream);
  watch.wait([this] { return reader_->end.done(); });
  std::uint64_t bits = 0;
  std::memcpy(&bits, reader_->value.data(), size);
  return bits != 0;
}

}  // namespace baton::play
