#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baton/bundle.h"
#include "tools/file/file_guard.h"

namespace baton::tools {

struct ExtractedBundle {
  std::vector<std::string> written;  // the paths of all files
  std::filesystem::path program;     // of these: the program file
  bool is_whole = true;              // the program file can be run where it lies
};

// Writes every part of a bundle into a folder as it is, PTX without its NUL, and manifest.json,
// which says the digest of each. Sources and the files of buffers lie where the program names them.
// What the program needs and cannot find there is a remark.
ExtractedBundle extract_bundle(const Bundle& bundle, const std::filesystem::path& folder,
                               const FileGuard& files, std::vector<std::string>& remarks);

}  // namespace baton::tools
