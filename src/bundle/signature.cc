#include "bundle/signature.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/hash/ed25519.h"
#include "base/hash/hash.h"

namespace baton::bundle {
namespace {

// No other use of a key signs a message that begins so.
constexpr std::string_view kPurpose = "baton bundle 1\n";

std::string message_of(std::string_view index) {
  const Sha256Digest digest = sha256(index);
  return std::string(kPurpose) +
         std::string(reinterpret_cast<const char*>(digest.data()), digest.size());
}

SigningRow signing_of(const Index& index, const std::string& name) {
  if (index.signing.size() == 0) {
    throw error(ErrorCode::kInvalidInput, "{} is not signed; sign it: baton sign {} --key KEY.pem",
                name, name);
  }
  const SigningRow row = index.signing[0];
  if (row.algorithm != kEd25519 || row.size != kSignatureBytes) {
    throw error(ErrorCode::kInvalidInput,
                "{} has a signature of algorithm {} with {} bytes, this Baton knows algorithm {} "
                "with {}; use a later Baton",
                name, row.algorithm, row.size, kEd25519, kSignatureBytes);
  }
  return row;
}

PublicKey key_of(const SigningRow& row) {
  Ed25519Key key;
  std::ranges::copy(row.key, key.begin());
  return PublicKey::from_bytes(key);
}

void check(const Index& index, std::string_view file, const SigningRow& row,
           const std::string& name) {
  Ed25519Signature signature;
  std::ranges::copy(file.substr(row.offset, row.size), signature.begin());
  const PublicKey key = key_of(row);
  if (ed25519_is_signed(key.bytes(), message_of(index.bytes()), signature)) return;
  throw error(ErrorCode::kInvalidInput,
              "{} is damaged or forged: its signature does not fit its index and the key {}; get "
              "it again from who signed it",
              name, key.id());
}

}  // namespace

std::string sign_index(std::string_view index, const SigningKey& key) {
  const Ed25519Signature signature = key.sign(message_of(index));
  return {reinterpret_cast<const char*>(signature.data()), signature.size()};
}

PublicKey check_signature(const Index& index, std::string_view file, const std::string& name) {
  const SigningRow row = signing_of(index, name);
  check(index, file, row, name);
  return key_of(row);
}

void require_signature(const Index& index, std::string_view file, std::span<const PublicKey> keys,
                       const std::string& name) {
  const SigningRow row = signing_of(index, name);
  const PublicKey key = key_of(row);
  if (std::ranges::find(keys, key) == keys.end()) {
    std::vector<std::string> ids;
    for (const PublicKey& trusted : keys) ids.push_back(trusted.id());
    throw error(ErrorCode::kInvalidInput,
                "{} is signed with the key {}, which is not trusted: trusted {} {}", name, key.id(),
                ids.size() == 1 ? "is" : "are", fmt::join(ids, ", "));
  }
  check(index, file, row, name);
}

}  // namespace baton::bundle
