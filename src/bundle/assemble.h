#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "bundle/index_writer.h"

namespace baton::bundle {

// Writes the file of an index whose rows of `sections` have names, in the order of `sections`, and
// nothing else: places and checksums are filled in here.
void write_sections(IndexWriter index, const std::map<std::string, std::string_view>& sections,
                    const std::filesystem::path& path);

}  // namespace baton::bundle
