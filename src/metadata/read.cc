#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text/json.h"
#include "baton/metadata.h"
#include "image/container/elf.h"
#include "metadata/canonical_binary.h"
#include "metadata/canonical_json.h"
#include "metadata/library.h"
#include "metadata/tvm_binary.h"
#include "metadata/tvm_json.h"

namespace baton {
namespace {

// Shared libraries of kernels stay far below.
constexpr std::uint64_t kMaxFile = std::uint64_t{4} << 30;

bool is_json(std::string_view bytes) {
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '{';
}

void read_json(std::string_view bytes, const std::string& name, FoundMetadata& found) {
  const Json document = parse_json(bytes, name);
  const bool own = find_member(document, metadata::kCanonicalKey) != nullptr;
  found.format = own ? "Baton metadata, JSON" : "TVM sidecar JSON";
  found.modules.push_back(own ? metadata::read_canonical_json(document, name, found.remarks)
                              : metadata::read_tvm_json(document, name, found.remarks));
}

}  // namespace

FoundMetadata read_metadata(std::string_view bytes, const std::string& name) {
  FoundMetadata found;
  if (bytes.empty()) throw error(ErrorCode::kInvalidInput, "{} is empty: it is not metadata", name);
  if (image::ElfFile::has_magic(bytes)) {
    metadata::read_library(bytes, name, found);
  } else if (metadata::is_canonical_binary(bytes)) {
    found.format = "Baton metadata, binary";
    found.modules.push_back(metadata::read_canonical_binary(bytes, name, found.remarks));
  } else if (is_json(bytes)) {
    read_json(bytes, name, found);
  } else {
    found.modules.push_back(metadata::read_tvm_binary(bytes, name, found));
  }
  return found;
}

FoundMetadata read_metadata(const std::filesystem::path& path) {
  return read_metadata(read_file(path, kMaxFile), path.string());
}

}  // namespace baton
