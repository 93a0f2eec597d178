#include "tools/file/trust.h"

#include <system_error>

#include "base/error.h"

namespace baton::tools {

BundleChecks checks_of(const TrustedFiles& trusted, Verify verify) {
  BundleChecks checks{verify, std::nullopt};
  if (trusted.empty()) return checks;
  checks.keys.emplace();
  for (const std::filesystem::path& file : trusted) {
    checks.keys->push_back(PublicKey::from_file(file));
  }
  return checks;
}

void require_bundle(const std::filesystem::path& path, const TrustedFiles& trusted) {
  // Whoever reads it says so if it is not there.
  std::error_code failure;
  if (trusted.empty() || !std::filesystem::exists(path, failure)) return;
  throw error(
      ErrorCode::kInvalidInput,
      "{} is not a bundle and has no signature, and --verify-key {} is given; name a bundle, or "
      "leave the key out",
      path.string(), trusted.front().string());
}

}  // namespace baton::tools
