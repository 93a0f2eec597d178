#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/inspect_contents.h"

namespace baton::cli {

// Writes the images of `file` into a folder, each byte for byte under a name that says what it is:
// beside a fatbin its members unpacked, beside a cubin the PTX that it carries for debuggers; the
// sources that its metadata carries; and manifest.json, which says what each is and
// where it came from. An image that is a file of its own keeps the file's stem. Returns the paths
// written. What cannot be unpacked costs a remark. Throws where a file cannot be written.
std::vector<std::string> extract_images(const Contents& contents, const std::filesystem::path& file,
                                        const std::filesystem::path& folder,
                                        std::vector<std::string>& remarks);

}  // namespace baton::cli
