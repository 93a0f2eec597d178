#include "baton/signing.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/ed25519.h"
#include "base/hash/hash.h"
#include "base/system/environment.h"
#include "base/text/text.h"
#include "baton/bundle.h"
#include "bundle/assemble.h"
#include "bundle/content.h"

namespace baton {
namespace {

// No key in PEM is larger.
constexpr std::uint64_t kMaxKeyBytes = 64 << 10;
constexpr std::size_t kIdDigits = 16;

}  // namespace

PublicKey PublicKey::from_file(const std::filesystem::path& path) {
  return from_pem(read_file(path, kMaxKeyBytes), path.string());
}

PublicKey PublicKey::from_pem(std::string_view pem, const std::string& name) {
  return PublicKey(ed25519_public_key(pem, name));
}

std::string PublicKey::id() const {
  return to_hex(sha256(ed25519_der(bytes_))).substr(0, kIdDigits);
}

SigningKey SigningKey::from_file(const std::filesystem::path& path) {
  return from_pem(read_file(path, kMaxKeyBytes), path.string());
}

SigningKey SigningKey::from_pem(std::string_view pem, const std::string& name) {
  return SigningKey(ed25519_private_key(pem, name));
}

PublicKey SigningKey::public_key() const {
  return PublicKey::from_bytes(ed25519_public_half(bytes_));
}

std::array<std::uint8_t, 64> SigningKey::sign(std::string_view message) const {
  return ed25519_sign(bytes_, message);
}

std::vector<PublicKey> trusted_keys() {
  std::vector<PublicKey> keys;
  const auto value = read_environment("BATON_TRUSTED_KEYS");
  std::string_view left = value ? std::string_view(*value) : std::string_view();
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end != 0) keys.push_back(PublicKey::from_file(left.substr(0, end)));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  if (value && keys.empty()) {
    throw error(
        ErrorCode::kInvalidInput,
        "BATON_TRUSTED_KEYS is \"{}\" and names no file; name files between colons, or unset "
        "it",
        printable(*value));
  }
  return keys;
}

void sign_bundle(const std::filesystem::path& bundle, const SigningKey& key,
                 const std::filesystem::path& output) {
  const Bundle opened = Bundle::open(bundle, {Verify::kAll, std::vector<PublicKey>()});
  const bundle::BundleContent& content = *opened.content();
  bundle::RawIndex index = bundle::RawIndex::read(content.index.bytes());
  index.minor = std::max(index.minor, bundle::kMinor);
  std::map<std::string, std::string_view> sections;
  for (const BundlePart& part : opened.parts()) {
    sections.emplace(part.name, opened.bytes(part.name));
  }
  bundle::write_sections(std::move(index), sections, &key, output);
}

}  // namespace baton
