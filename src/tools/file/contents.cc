#include "tools/file/contents.h"

#include "base/error.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "baton/bundle.h"
#include "image/container/elf.h"
#include "metadata/canonical_binary.h"

namespace baton::tools {
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

// Nothing for an image, for a program or library without any, and for what is not metadata at all.
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

std::optional<FoundMetadata> metadata_beside(const std::filesystem::path& image) {
  std::filesystem::path sidecar = image;
  sidecar.replace_extension(".tvm_meta.json");
  if (!std::filesystem::exists(sidecar)) return std::nullopt;
  return read_metadata(sidecar);
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

std::optional<Contents> read_contents_or_program(const std::filesystem::path& path) {
  if (path.extension() == ".toml" || Bundle::is_bundle(path)) return std::nullopt;
  Contents contents;
  try {
    contents = read_contents(path);
  } catch (const Error& neither) {
    if (neither.code() != ErrorCode::kInvalidInput) throw;
    const std::string bytes = read_file(path);
    const bool is_text = bytes.find('\0') == std::string::npos;
    if (!is_text || trim(bytes).starts_with('{')) throw;
    return std::nullopt;
  }
  if (contents.images.container.empty()) contents.metadata = metadata_beside(path);
  return contents;
}

}  // namespace baton::tools
