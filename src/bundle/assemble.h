#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "baton/signing.h"
#include "bundle/raw_index.h"

namespace baton::bundle {

// The bytes of an index whose rows of `sections` have names, in the order of `sections`: places and
// checksums are filled in here.
std::string join_sections(RawIndex index, const std::map<std::string, std::string_view>& sections);

// Writes such a file, with a key also the table of the signature and the signature.
void write_sections(RawIndex index, const std::map<std::string, std::string_view>& sections,
                    const SigningKey* key, const std::filesystem::path& path);

}  // namespace baton::bundle
