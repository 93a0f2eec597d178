#include "program/reader/program_files.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text/text.h"
#include "program/reader/document.h"
#include "program/reader/reader.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxIncludeDepth = 16;
constexpr std::size_t kMaxIncludedFiles = 256;

// Puts the parts of a program file after those of the files that it includes. A file counts once,
// however often it is included.
class ProgramFiles {
 public:
  ProgramFiles(ProgramDefinition& program, Includes includes)
      : program_(program), includes_(includes) {}

  void add(const Document& document, const fs::path& directory) {
    const std::size_t first_symbol = program_.symbols.size();
    for (const IncludedProgram& file : read_includes(document, directory)) include(file);
    read_parts(document, directory, first_symbol, program_);
  }

  // The file that is read is not to include itself.
  void open(const fs::path& file) { open_.push_back(identity(file)); }

 private:
  // Two paths of one file are one file.
  static fs::path identity(const fs::path& file) {
    std::error_code failure;
    const fs::path whole = fs::canonical(file, failure);
    return failure ? fs::absolute(file).lexically_normal() : whole;
  }

  void include(const IncludedProgram& file) {
    if (includes_ == Includes::kRefuse) {
      throw error_at(file.where, ErrorCode::kInvalidInput,
                     "the program of a bundle includes {}; a bundle has one program text",
                     printable(file.path.string()));
    }
    const fs::path id = identity(file.path);
    refuse_cycle(file, id);
    if (std::find(done_.begin(), done_.end(), id) != done_.end()) return;
    if (open_.size() >= kMaxIncludeDepth || done_.size() >= kMaxIncludedFiles) {
      throw error_at(file.where, ErrorCode::kInvalidInput,
                     "{} is one file too many: {} files may include one another, and {} may take "
                     "part",
                     printable(file.path.string()), kMaxIncludeDepth, kMaxIncludedFiles);
    }
    const std::string text = read_text(file);
    try {
      open_.push_back(id);
      add(Document(text, file.path.string()), file.path.parent_path());
      open_.pop_back();
    } catch (Error& failure) {
      failure.note("included at " + file.where.to_string());
      throw;
    }
    done_.push_back(id);
    program_.included.push_back(file.path);
  }

  static std::string read_text(const IncludedProgram& file) {
    try {
      return read_file(file.path, Document::kMaxBytes);
    } catch (Error& failure) {
      failure.at(file.where);
      throw;
    }
  }

  void refuse_cycle(const IncludedProgram& file, const fs::path& id) const {
    const auto begin = std::find(open_.begin(), open_.end(), id);
    if (begin == open_.end()) return;
    std::string circle;
    for (auto each = begin; each != open_.end(); ++each) {
      circle += each->filename().string() + " includes ";
    }
    throw error_at(file.where, ErrorCode::kInvalidInput,
                   "{}{}: files that include one another; take one include out", printable(circle),
                   printable(id.filename().string()));
  }

  ProgramDefinition& program_;
  const Includes includes_;
  std::vector<fs::path> open_;  // the files that are being read, outermost first
  std::vector<fs::path> done_;
};

// `file` is empty for a text.
ProgramDefinition read_definition(std::string_view text, std::string name,
                                  const fs::path& directory, std::string default_name,
                                  const fs::path& file, Includes includes) {
  const Document document(text, std::move(name));
  ProgramDefinition program;
  program.file = file;
  program.text = text;
  program.directory = directory;
  program.name = read_name(document).value_or(std::move(default_name));
  ProgramFiles files(program, includes);
  if (!file.empty()) files.open(file);
  files.add(document, directory);
  if (program.steps.empty() && document.root().member("steps") == nullptr) {
    throw error_at(document.place(document.root()), ErrorCode::kInvalidInput,
                   "the program lacks \"steps\"");
  }
  return program;
}

}  // namespace

ProgramDefinition read_definition_text(std::string_view toml, std::string name,
                                       const fs::path& directory, Includes includes) {
  std::string default_name = name;
  return read_definition(toml, std::move(name), directory, std::move(default_name), {}, includes);
}

Program check_program(ProgramDefinition program, const std::string& name) {
  try {
    return Program(std::move(program));
  } catch (Error& failure) {
    failure.at({name});
    throw;
  }
}

Program read_program_text(std::string_view toml, const std::string& name, const fs::path& directory,
                          Includes includes) {
  return check_program(read_definition_text(toml, name, directory, includes), name);
}

Program Program::from_file(const fs::path& path) {
  return check_program(
      read_definition(read_file(path, Document::kMaxBytes), path.string(), path.parent_path(),
                      path.stem().string(), path, Includes::kRead),
      path.string());
}

Program Program::from_text(std::string_view toml, std::string name, const fs::path& directory) {
  return read_program_text(toml, name, directory, Includes::kRead);
}

}  // namespace baton
