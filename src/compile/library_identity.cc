#include "compile/library_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace baton::compiler {

namespace {

namespace fs = std::filesystem;

// A library's content, as far as its size, its beginning (headers, build id) and its end (section
// table) tell it: reading a hundred megabytes would cost more than what a hit saves. False where it
// cannot be read.
bool add_library(Sha256& hash, const fs::path& path) {
  constexpr std::uint64_t kSample = std::uint64_t{64} << 10;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = in.tellg();
  if (!in || size <= 0) return false;
  std::string sample(std::min<std::uint64_t>(kSample, static_cast<std::uint64_t>(size)), '\0');
  hash.update_field(fmt::format("{}", size));
  for (const std::streamoff offset : {std::streamoff{0}, size - std::streamoff(sample.size())}) {
    in.seekg(offset);
    in.read(sample.data(), static_cast<std::streamsize>(sample.size()));
    if (!in) return false;
    hash.update_field(fmt::format("{:x}", xxh3(sample)));
  }
  return true;
}

}  // namespace

std::optional<std::string> library_identity(const fs::path& library) {
  Sha256 hash;
  std::error_code failed;
  const fs::path real = fs::canonical(library, failed);
  if (failed || !add_library(hash, real)) return std::nullopt;
  return to_hex(hash.finish());
}

bool add_compiler(Sha256& hash, const fs::path& nvrtc) {
  std::error_code failed;
  const fs::path real = fs::canonical(nvrtc, failed);
  if (failed || !add_library(hash, real)) return false;
  // libnvrtc-builtins.so.13.0
  std::vector<fs::path> builtins;
  // Its ++ without an error code would throw.
  for (fs::directory_iterator at(real.parent_path(), failed);
       !failed && at != fs::directory_iterator(); at.increment(failed)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with("libnvrtc-builtins.so.")) builtins.push_back(at->path());
  }
  if (failed) return false;
  std::sort(builtins.begin(), builtins.end());
  return std::all_of(builtins.begin(), builtins.end(),
                     [&](const fs::path& path) { return add_library(hash, path); });
}

}  // namespace baton::compiler
