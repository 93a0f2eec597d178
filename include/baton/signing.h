#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "baton/export.h"

namespace baton {

// The public half of an Ed25519 key (RFC 8032). Who has it can tell whether a bundle is signed with
// the other half. A value. Keys and signatures need OpenSSL's libcrypto on the machine: every
// function here throws kNotFound where it does not load.
class BATON_API PublicKey {
 public:
  // A file in PEM, as "openssl pkey -in KEY.pem -pubout" writes it. Throws kNotFound if it cannot
  // be read, and kInvalidInput if it does not hold a public Ed25519 key.
  static PublicKey from_file(const std::filesystem::path& path);
  // The same for the text of such a file. `name` is its name in messages.
  static PublicKey from_pem(std::string_view pem, const std::string& name = "<key>");
  static PublicKey from_bytes(const std::array<std::uint8_t, 32>& bytes) {
    return PublicKey(bytes);
  }

  const std::array<std::uint8_t, 32>& bytes() const { return bytes_; }
  // 16 hexadecimal digits for people: the first of the SHA-256 digest of the key in DER.
  std::string id() const;

  friend bool operator==(const PublicKey& a, const PublicKey& b) { return a.bytes_ == b.bytes_; }
  friend bool operator!=(const PublicKey& a, const PublicKey& b) { return !(a == b); }

 private:
  explicit PublicKey(const std::array<std::uint8_t, 32>& bytes) : bytes_(bytes) {}

  std::array<std::uint8_t, 32> bytes_;
};

// A whole Ed25519 key, which signs. A value; keep its file secret.
class BATON_API SigningKey {
 public:
  // A file in PEM without a passphrase, as "openssl genpkey -algorithm ed25519" writes it. Throws
  // as PublicKey::from_file does.
  static SigningKey from_file(const std::filesystem::path& path);
  static SigningKey from_pem(std::string_view pem, const std::string& name = "<key>");

  PublicKey public_key() const;
  std::array<std::uint8_t, 64> sign(std::string_view message) const;

 private:
  explicit SigningKey(const std::array<std::uint8_t, 32>& bytes) : bytes_(bytes) {}

  std::array<std::uint8_t, 32> bytes_;
};

// The keys of the files that BATON_TRUSTED_KEYS names ("/etc/baton/a.pem:/etc/baton/b.pem"). If
// there are any, every bundle that this process opens has to be signed with one of them. Throws the
// errors of PublicKey::from_file.
BATON_API std::vector<PublicKey> trusted_keys();

// Signs a bundle, whose contents stay the same, in place of a signature that it has. Checks every
// part first. The file `output`, which may be the bundle's own, is replaced whole or not at all.
// Throws what Bundle::open and Bundle::verify throw, and kInvalidInput where the file cannot be
// written.
BATON_API void sign_bundle(const std::filesystem::path& bundle, const SigningKey& key,
                           const std::filesystem::path& output);

}  // namespace baton
