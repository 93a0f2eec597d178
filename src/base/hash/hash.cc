#include "base/hash/hash.h"

// The low-level functions: EVP loads libcrypto's providers and configuration first, which costs a
// process more than all that it hashes.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/hash/xxhash_library.h"

namespace baton {
struct Sha256::Context {
  SHA256_CTX state;
};

namespace {

// Of the low eight bits that leave the register, by how many bytes they are away from its end.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr CrcTables make_crc_tables() {
  CrcTables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0);
    tables[0][byte] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

SHA256_CTX* as_context(const std::unique_ptr<Sha256::Context>& context) {
  if (context == nullptr) {
    throw error(ErrorCode::kInternal, "a SHA-256 digest is used after its end");
  }
  return &context->state;
}

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  SHA256_Init(&context_->state);
}

Sha256::~Sha256() = default;

Sha256& Sha256::update(std::string_view bytes) {
  SHA256_Update(as_context(context_), bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::update_field(std::string_view bytes) {
  std::array<char, 8> length;
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<char>(std::uint64_t{bytes.size()} >> (8 * i));
  }
  update({length.data(), length.size()});
  return update(bytes);
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest;
  SHA256_Final(digest.data(), as_context(context_));
  context_.reset();
  return digest;
}

Sha256Digest sha256(std::string_view bytes) {
  return Sha256().update(bytes).finish();
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::uint64_t xxh3(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint32_t crc32(std::string_view bytes) {
  static constexpr CrcTables kTables = make_crc_tables();
  static_assert(std::endian::native == std::endian::little);
  std::uint32_t crc = ~0u;
  // Eight bytes a step: a table for each, whose look-ups do not wait for each other.
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][word >> (8 * k) & 0xff];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return ~crc;
}

}  // namespace baton
