#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baton/compile.h"

namespace baton::compiler {

// A source's own options, distinguished as far as Baton has to know them. All others are passed on
// as written.
struct ParsedOptions {
  bool is_relocatable = false;                 // -rdc=true: other files may define and call
  std::vector<std::string> others;             // in order; without folders and forced includes
  std::filesystem::path directory;             // the source's own folder, absolute
  std::vector<std::filesystem::path> include;  // absolute: Source::include, -I, and `directory`
  std::vector<std::string> forced;             // -include: as written
  bool has_standard = false;                   // one says -std
  bool has_debug = false;                      // -G
  bool has_lto = false;                        // -dlto: LTO-IR instead of PTX and machine code
};

// Throws kInvalidInput for an architecture among them (that is CompileOptions::arch), and for one
// that lacks its value.
ParsedOptions parse_options(const Source& source);

// The options with the folders of -I, and the files of -include that are there, taken from
// `directory`, whatever the source's own folder is.
std::vector<std::string> with_paths_from(const std::filesystem::path& directory,
                                         std::vector<std::string> options);

// What `arch` asks for: "sm_90a", "compute_90".
struct Arch {
  int number = 0;        // 90
  std::string text;      // "sm_90a"
  bool is_real = false;  // machine code too, not PTX alone
};
// Throws kInvalidInput.
Arch parse_arch(const std::string& text);

}  // namespace baton::compiler
