#include "compile/cache/cache_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"
#include "base/hash/hash.h"
#include "compile/cache/cache_entry.h"
#include "compile/library_identity.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

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
