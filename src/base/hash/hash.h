#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace baton {

using Sha256Digest = std::array<std::uint8_t, 32>;

// Incremental SHA-256 (FIPS 180-4, by libcrypto): content identity. Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  Sha256& update(std::string_view bytes);
  // Length-prefixed (8 bytes, little-endian): two fields can never be confused with one longer
  // field.
  Sha256& update_field(std::string_view bytes);
  // Ends the digest: the object takes no more bytes after it (kInternal).
  Sha256Digest finish();

  struct Context;  // of libcrypto

 private:
  std::unique_ptr<Context> context_;
};

Sha256Digest sha256(std::string_view bytes);
// Lower case, two digits a byte.
std::string to_hex(std::span<const std::uint8_t> bytes);
// XXH3-64: checksums against accidents, not against malice.
std::uint64_t xxh3(std::string_view bytes);
// CRC-32 as zip files use it (ISO 3309).
std::uint32_t crc32(std::string_view bytes);

}  // namespace baton
