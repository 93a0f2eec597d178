#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "baton/signing.h"
#include "bundle/index.h"

namespace baton::bundle {

inline constexpr std::string_view kSigningTable = "signing";
inline constexpr std::string_view kSignatureEntry = "signature";  // of the zip
inline constexpr std::uint32_t kSignatureBytes = 64;

// The signature of an index: of a text that says what is signed, and the SHA-256 digest of the
// index, which has the digests of all parts.
std::string sign_index(std::string_view index, const SigningKey& key);

// Whose key the index of a file is signed with. Throws kInvalidInput if it is not signed, if the
// signature does not fit, or if this version does not know its kind.
PublicKey check_signature(const Index& index, std::string_view file, const std::string& name);
// The same, and throws kInvalidInput if the key is none of `keys`.
void require_signature(const Index& index, std::string_view file, std::span<const PublicKey> keys,
                       const std::string& name);

}  // namespace baton::bundle
