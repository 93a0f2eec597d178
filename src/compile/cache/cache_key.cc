#include "compile/cache/cache_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"
#include "compile/cache/cache_entry.h"

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

// NVRTC and the library of built-in code beside it, libnvrtc-builtins.so.13.0.
bool add_compiler(Sha256& hash, const fs::path& nvrtc) {
  std::error_code failed;
  const fs::path real = fs::canonical(nvrtc, failed);
  if (failed || !add_library(hash, real)) return false;
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

// CUDA's headers do not change in place: their version and the size of those that change with every
// release tell them.
void add_cuda_headers(Sha256& hash, const Toolkit& toolkit) {
  hash.update_field(header_version(toolkit));
  for (const fs::path& folder : toolkit.include) {
    for (std::string_view file : {"cuda.h", "cuda_fp16.h", "cuda_fp16.hpp", "cuda_bf16.hpp",
                                  "cooperative_groups.h", "cuda/std/__cccl/version.h"}) {
      std::error_code failed;
      const std::uintmax_t size = fs::file_size(folder / file, failed);
      hash.update_field(failed ? "" : fmt::format("{} {}", file, size));
    }
  }
}

void add_list(Sha256& hash, const std::vector<std::string>& list) {
  hash.update_field(fmt::format("{}", list.size()));
  for (const std::string& each : list) hash.update_field(each);
}

}  // namespace

std::optional<std::string> library_identity(const fs::path& library) {
  Sha256 hash;
  std::error_code failed;
  const fs::path real = fs::canonical(library, failed);
  if (failed || !add_library(hash, real)) return std::nullopt;
  return to_hex(hash.finish());
}

std::optional<std::string> cache_key(const Request& request, std::string* obstacle) {
  if (!request.scan.obstacle.empty()) {
    *obstacle = request.scan.obstacle;
    return std::nullopt;
  }
  Sha256 hash;
  if (!request.toolkit.nvrtc || !add_compiler(hash, *request.toolkit.nvrtc)) {
    *obstacle = "NVRTC cannot be read";
    return std::nullopt;
  }
  add_cuda_headers(hash, request.toolkit);
  hash.update_field(fmt::format("Baton {} format {}", BATON_VERSION, kCacheFormat));
  for (const EmbeddedHeader& header : request.headers) {
    hash.update_field(header.name).update_field(fmt::format("{:x}", xxh3(header.text)));
  }
  hash.update_field(request.source.text).update_field(request.source.prelude);
  hash.update_field(request.arch.text);
  add_list(hash, request.parsed.others);
  add_list(hash, request.parsed.forced);
  add_list(hash, request.options.entries);
  if (request.is_for_link) hash.update_field("for a link");
  // What -G writes for debuggers names files in more places than can be renamed, and relocations
  // refer to places in line tables.
  const bool sees_paths =
      request.scan.mentions_file_name || request.parsed.has_debug || request.is_for_link;
  if (sees_paths) hash.update_field(request.program_name);
  for (const IncludedFile& file : request.scan.files) {
    hash.update_field(file.name);
    hash.update_field(file.path.empty() ? "missing" : "found");
    hash.update_field({reinterpret_cast<const char*>(file.content.data()), file.content.size()});
    if (sees_paths) hash.update_field(file.path.string());
  }
  // Which of them each #include finds: files of one name may differ.
  hash.update_field(fmt::format("{}", fmt::join(request.scan.found, " ")));
  return to_hex(hash.finish());
}

}  // namespace baton::compiler
