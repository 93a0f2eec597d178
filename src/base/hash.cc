#include "base/hash.h"

// The low-level functions: EVP loads libcrypto's providers and configuration first, which costs a
// process more than all that it hashes.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <xxhash.h>

#include "base/error.h"

namespace baton {
struct Sha256::Context {
  SHA256_CTX state;
};

namespace {

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

}  // namespace baton
