#pragma once

#include <filesystem>
#include <vector>

#include "baton/bundle.h"

namespace baton::tools {

// Files of public keys: a bundle has to be signed with one of them. Empty: those of the
// environment.
using TrustedFiles = std::vector<std::filesystem::path>;

// The keys of the files, as Bundle::open takes them. Throws what PublicKey::from_file throws.
BundleChecks checks_of(const TrustedFiles& trusted, Verify verify);

// Throws kInvalidInput where keys are given, for a file that is not a bundle.
void require_bundle(const std::filesystem::path& path, const TrustedFiles& trusted);

}  // namespace baton::tools
