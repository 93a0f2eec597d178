#include "cli/inspect_contents.h"

#include "base/error.h"
#include "base/file.h"
#include "image/elf.h"
#include "metadata/canonical_binary.h"

namespace baton::cli {
namespace {

// Libraries of kernels stay below.
constexpr std::uint64_t kMaxFile = std::uint64_t{4} << 30;

// Whether the bytes are metadata or nothing: JSON, or Baton's own binary form. TVM's binary forms
// have no mark of their own.
bool claims_metadata(std::string_view bytes) {
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  return metadata::is_canonical_binary(bytes) ||
         (start != std::string_view::npos && bytes[start] == '{');
}

// Nothing for an image, for a program or library without any, and for what is no metadata at all.
std::optional<FoundMetadata> find_metadata(std::string_view bytes, const std::string& name) {
  try {
    return read_metadata(bytes, name);
  } catch (const Error& unreadable) {
    if (unreadable.code() == ErrorCode::kNotFound) return std::nullopt;
    // The images of a library stand beside its metadata.
    if (image::ElfFile::has_magic(bytes)) return FoundMetadata{"", {}, {unreadable.message()}};
    if (claims_metadata(bytes)) throw;
    return std::nullopt;
  }
}

FoundImages images_of(const FoundMetadata& metadata) {
  FoundImages found;
  found.container = metadata.format;
  for (const ModuleMetadata& module : metadata.modules) {
    if (module.image()) found.images.push_back({*module.image(), "code", 0});
  }
  return found;
}

}  // namespace

Contents read_contents(const std::filesystem::path& path) {
  const std::string bytes = read_file(path, kMaxFile);
  Contents contents;
  contents.metadata = find_metadata(bytes, path.string());
  contents.has_offsets = !contents.metadata || image::ElfFile::has_magic(bytes);
  contents.images =
      contents.has_offsets ? find_images(bytes, path.string()) : images_of(*contents.metadata);
  return contents;
}

}  // namespace baton::cli
