#include "image/container/lz4.h"

#include <cstdint>

namespace baton::image {
namespace {

constexpr std::size_t kMinMatch = 4;
constexpr std::size_t kLongLength = 15;  // a nibble of 15: bytes of length follow

// Takes bytes from the front of the block; every failure leaves `failed` set.
class BlockReader {
 public:
  explicit BlockReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte() {
    if (rest_.empty()) {
      failed_ = true;
      return 0;
    }
    const auto value = static_cast<std::uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }
  std::size_t length(std::size_t nibble) {
    std::size_t value = nibble;
    if (nibble != kLongLength) return value;
    std::uint8_t more;
    do {
      more = byte();
      value += more;
    } while (more == 255);
    return value;
  }
  std::string_view take(std::size_t size) {
    if (size > rest_.size()) failed_ = true;
    const std::string_view taken = rest_.substr(0, failed_ ? 0 : size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  bool is_empty() const { return rest_.empty(); }
  bool failed() const { return failed_; }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::string> unpack_lz4(std::string_view block, std::size_t size) {
  BlockReader in(block);
  std::string out;
  out.reserve(size);
  while (!in.is_empty()) {
    // A sequence: literals, then a match, which the last one lacks.
    const std::uint8_t token = in.byte();
    const std::string_view literals = in.take(in.length(token >> 4));
    if (in.failed() || literals.size() > size - out.size()) return std::nullopt;
    out += literals;
    if (in.is_empty()) break;
    const std::size_t low = in.byte();
    const std::size_t distance = low | static_cast<std::size_t>(in.byte()) << 8;
    const std::size_t match = in.length(token & 0xf) + kMinMatch;
    if (in.failed() || distance == 0 || distance > out.size() || match > size - out.size()) {
      return std::nullopt;
    }
    // Byte by byte: a match may overlap what it writes.
    for (std::size_t i = 0; i < match; ++i) out += out[out.size() - distance];
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

}  // namespace baton::image
