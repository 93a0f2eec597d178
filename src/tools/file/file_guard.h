#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "baton/compile.h"
#include "baton/program.h"

namespace baton::tools {

// The files that one command reads and those that it writes: it must not replace its own input.
// Files are compared as the file system knows them, so that links and other spellings count.
class FileGuard {
 public:
  // Files that the command reads. Throws kInvalidInput where it writes one of them.
  void reads(std::vector<std::filesystem::path> files);
  // The same of the files that a program is made of, the headers of its sources included.
  void reads(const Program& program);
  // The same of the headers of a source. Throws what reading them throws, too.
  void reads(const Source& source, const CompileOptions& options);

  // A file that the command writes, and the option that names it: "-o k.cubin". Throws
  // kInvalidInput where the command reads it.
  void writes(std::string option, std::filesystem::path file);

  // Whether no file that the command reads is this one.
  bool may_write(const std::filesystem::path& file) const;
  // Throws kInvalidInput where may_write is false.
  void require(const std::string& option, const std::filesystem::path& file) const;

 private:
  struct Target {
    std::string option;
    std::filesystem::path file;
  };
  bool replaces_files() const;

  std::vector<std::filesystem::path> inputs_;
  std::vector<Target> targets_;
};

}  // namespace baton::tools
