#pragma once

#include <optional>
#include <string>

#include "baton/device.h"
#include "cli/command_line/options.h"
#include "cli/output/output.h"
#include "tools/file/check_targets.h"

namespace baton::cli {

// What the files of a check have in common.
struct CheckedFiles {
  std::optional<Device> device;  // empty: none has needed it yet
  bool has_program = false;      // whether any of them is one
};

// Checks one file into `output`. Opens the device once the file is read, if it is not open yet.
// Returns why nothing was checked of a file that a folder has; empty: it was. Throws what the file
// fails with.
std::string check_file(const CheckCommand& command, const tools::CheckTarget& target,
                       CheckedFiles& checked, Output& output);

// Several files, and those in folders: a table with a row for each, and "files" of the JSON object
// with the object of each. Throws one error if any fails, with the code whose exit status is the
// greatest.
void check_files(const CheckCommand& command, Output& output);

}  // namespace baton::cli
