#pragma once

#include "cli/command_line/options.h"
#include "tools/file/file_guard.h"

namespace baton::cli {

// Notes the files that a command line names: those that the command reads, and those that it
// writes. A command adds what it finds in them, such as the files of a program. Throws
// kInvalidInput where a file would be replaced that the command reads.
void note_files(const Command& command, tools::FileGuard& files);

}  // namespace baton::cli
