#include "base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <utility>

#include "base/error.h"

namespace baton {
namespace {

EVP_MD_CTX* as_context(void* context) {
  // libcrypto itself goes on after the end, with a digest that means nothing.
  if (context == nullptr) {
    throw error(ErrorCode::kInternal, "a SHA-256 digest is used after its end");
  }
  return static_cast<EVP_MD_CTX*>(context);
}

void require(bool done) {
  if (!done) {
    throw error(
        ErrorCode::kInternal,
        "libcrypto refused a SHA-256 operation; check that its default provider is enabled");
  }
}

}  // namespace

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  require(context_ != nullptr);
  if (EVP_DigestInit_ex(as_context(context_), EVP_sha256(), nullptr) != 1) {
    EVP_MD_CTX_free(as_context(context_));
    require(false);
  }
}

Sha256::~Sha256() {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context_));
}

Sha256& Sha256::update(std::string_view bytes) {
  require(EVP_DigestUpdate(as_context(context_), bytes.data(), bytes.size()) == 1);
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
  unsigned size = 0;
  require(EVP_DigestFinal_ex(as_context(context_), digest.data(), &size) == 1 &&
          size == digest.size());
  EVP_MD_CTX_free(as_context(std::exchange(context_, nullptr)));
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
