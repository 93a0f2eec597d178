#pragma once

#include <string>
#include <string_view>

#include "bundle/content.h"

namespace baton::bundle {

// The record of the program that a text describes. `document` is the text's name in messages,
// `name` the program's if its text says none.
std::string make_record(std::string_view toml, const std::string& document, std::string_view name);

// Throws kInvalidInput where the record, if it would be read, says something else than the text.
void verify_record(const BundleContent& content);

}  // namespace baton::bundle
