#pragma once

#include <filesystem>
#include <optional>

#include "baton/image.h"
#include "baton/metadata.h"

namespace baton::tools {

// What a file holds for `inspect` and `check`.
struct Contents {
  FoundImages images;
  // The launch metadata of a file of its own, or of a library beside its images.
  std::optional<FoundMetadata> metadata;
  // The images stand in the file as they are; a file of metadata may have them encoded.
  bool has_offsets = true;
};

// Reads a file by its bytes. What a library holds of metadata and cannot be read is a remark.
// Throws kNotFound where the file cannot be read, kInvalidInput or kDamaged where it is neither
// image nor metadata, or broken.
Contents read_contents(const std::filesystem::path& path);

// The same, with the metadata that lies beside an image as NAME.tvm_meta.json. Nothing for a
// program: a bundle, or text that is neither image nor metadata.
std::optional<Contents> read_contents_or_program(const std::filesystem::path& path);

}  // namespace baton::tools
