#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bundle/zip.h"

namespace baton::bundle {

// How the zip of that name around `wanted` differs from what Baton writes, a sentence for each
// difference: its directory, and all bytes that lie outside of the entries. The checksums of
// `wanted` do not matter.
std::vector<std::string> zip_differences(std::string_view file, const std::string& name,
                                         std::vector<ZipEntry> wanted);

}  // namespace baton::bundle
