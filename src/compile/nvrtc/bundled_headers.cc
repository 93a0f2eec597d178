#include "compile/nvrtc/bundled_headers.h"

#include <string>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/log.h"
#include "compile/cache/cache.h"
#include "compile/library_identity.h"
#include "compile/nvrtc/nvrtc.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

// NVRTC writes this file last.
constexpr std::string_view kMarker = ".nvrtc_headers_version";

bool are_installed(const fs::path& folder) {
  std::error_code failed;
  return fs::is_regular_file(folder / kMarker, failed);
}

// False, and says so in the log, where this NVRTC has no headers or cannot write them.
bool install(const fs::path& nvrtc_file, const fs::path& folder) {
  const Nvrtc& nvrtc = Nvrtc::load(nvrtc_file);
  if (nvrtc.install_headers == nullptr) return false;
  std::error_code failed;
  fs::create_directories(folder.parent_path(), failed);
  // It skips what is there in its own version, and waits for another process that installs.
  constexpr unsigned kSkipIfExists = 0;
  const char* why = nullptr;
  const Nvrtc::Result result = nvrtc.install_headers(folder.c_str(), kSkipIfExists, &why);
  if (result == Nvrtc::kSuccess) return true;
  log(LogLevel::kWarning, "NVRTC's own headers cannot be written to {}: {}", folder.string(),
      why != nullptr ? why : nvrtc.error_string(result));
  return false;
}

}  // namespace

void add_bundled_headers(Toolkit& toolkit, const fs::path& cache) {
  const bool complete = !toolkit.include.empty() && missing_headers(toolkit.include).empty();
  if (complete || !toolkit.nvrtc) return;
  Sha256 build;
  if (!add_compiler(build, *toolkit.nvrtc)) return;
  constexpr std::size_t kNameLength = 16;
  const fs::path folder = cache / "headers" / to_hex(build.finish()).substr(0, kNameLength);
  try {
    if (!are_installed(folder) && !install(*toolkit.nvrtc, folder)) return;
  } catch (const Error& error) {
    log(LogLevel::kWarning, "NVRTC's own headers cannot be used: {}", error.message());
    return;
  }
  toolkit.include.insert(toolkit.include.begin(), {folder, folder / "cccl"});
  toolkit.include_origin = "written by NVRTC";
}

void add_bundled_headers(Toolkit& toolkit) {
  if (const auto cache = Cache::open_default()) {
    add_bundled_headers(toolkit, cache->directory().parent_path());
  }
}

}  // namespace baton::compiler
