#pragma once

#include <filesystem>
#include <string>

namespace baton {

// "; did you mean \"saxpy.toml\"?" for a file that is not there, where its folder has one of a
// similar name, else nothing. For the end of a message. Never throws for a folder that cannot be
// read.
std::string file_suggestion(const std::filesystem::path& missing);

}  // namespace baton
