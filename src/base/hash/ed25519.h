#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton {

// Ed25519 signatures (RFC 8032), by libcrypto. The functions that Baton needs would add 4 MB to
// each library that links its archive, so its shared library is loaded at the first call, and
// stays. BATON_LIBCRYPTO names another file. Every function is thread-safe, and throws kNotFound if
// libcrypto does not load.

using Ed25519Key = std::array<std::uint8_t, 32>;  // public or private, as RFC 8032 encodes it
using Ed25519Signature = std::array<std::uint8_t, 64>;

// A key in PEM, as `openssl genpkey -algorithm ed25519` and `openssl pkey -pubout` write it. Throws
// kInvalidInput for other text, for a key of another algorithm, and for one under a passphrase.
// `name` is the text's in messages.
Ed25519Key ed25519_public_key(std::string_view pem, const std::string& name);
Ed25519Key ed25519_private_key(std::string_view pem, const std::string& name);

Ed25519Key ed25519_public_half(const Ed25519Key& private_key);
Ed25519Signature ed25519_sign(const Ed25519Key& private_key, std::string_view message);
bool ed25519_is_signed(const Ed25519Key& public_key, std::string_view message,
                       const Ed25519Signature& signature);

// The key as DER (SubjectPublicKeyInfo of RFC 8410), as `openssl pkey -pubin -outform DER` writes
// it.
std::string ed25519_der(const Ed25519Key& public_key);

}  // namespace baton
