#include "tools/file/bundle_extraction.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/text/text.h"
#include "bundle/definitions.h"
#include "program/reader/input_files.h"
#include "tools/file/extraction.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgramPart = "program.toml";
// These hold parts by their paths from the program's folder.
constexpr std::string_view kFolders[] = {"sources/", "files/"};
// Stands for ".." in them.
constexpr std::string_view kOutside = "__";

class BundleExtraction {
 public:
  BundleExtraction(const Bundle& bundle, const fs::path& folder, const FileGuard& files,
                   std::vector<std::string>& remarks)
      : bundle_(bundle),
        folder_(folder),
        remarks_(remarks),
        extraction_("--extract", folder, files, remarks) {
    for (const BundlePart& part : bundle.parts()) taken_.emplace(part.name);
    taken_.emplace("manifest.json");
  }

  ExtractedBundle run() {
    for (const BundlePart& part : bundle_.parts()) write(std::string(part.name));
    write_named_images();
    note_missing_files();
    ExtractedBundle out;
    out.program = folder_ / kProgramPart;
    out.is_whole = is_whole_;
    out.written = extraction_.finish(
        {{"version", 1}, {"bundle", bundle_.name()}, {"parts", extraction_.take_list()}});
    return out;
  }

 private:
  void write(const std::string& part) {
    std::string_view bytes = bundle_.bytes(part);
    const std::string kind = part.substr(0, part.find('/'));
    if (part.ends_with(".ptx") && kind == "images" && bytes.ends_with('\0')) {
      bytes.remove_suffix(1);
    }
    extraction_.write(place_of(part), bytes, kind)["part"] = part;
  }

  // Where the program looks for it, if that is in the folder and no other file's.
  std::string place_of(const std::string& part) {
    for (const std::string_view folder : kFolders) {
      if (!part.starts_with(folder)) continue;
      const std::string place = part.substr(folder.size());
      const bool is_outside = place.starts_with(fmt::format("{}/", kOutside));
      if (!is_outside && taken_.insert(place).second) return place;
      miss(fmt::format(
          "{} is not where the program names it: {}", part,
          is_outside ? "that is outside of the program's folder" : "another file has that name"));
    }
    return part;
  }

  // Images that the program names as files have parts of other names.
  void write_named_images() {
    for (const auto& definition : bundle::read_definitions(bundle_, bundle_.program(), "")) {
      if (!definition.image) continue;
      for (const ProgramKernel* kernel : definition.kernels) {
        if (kernel->file.empty()) continue;
        const std::string place = relative(kernel->file);
        if (place.empty() || place.starts_with("..") || !taken_.insert(place).second) continue;
        extraction_.write(place, definition.image->bytes(), "images");
      }
    }
  }

  std::string relative(const fs::path& file) const {
    return file.lexically_normal().lexically_relative(
        bundle_.program().directory().lexically_normal());
  }

  // The program's own text tells the files that it names, those that no bundle has included.
  void note_missing_files() {
    const Program program = Program::from_text(bundle_.bytes(kProgramPart), bundle_.name());
    for (const fs::path& file : input_files(program)) {
      const std::string place = file.lexically_normal().string();
      if (taken_.contains(place) || !missed_.insert(place).second) continue;
      miss(fmt::format(
          "the program names {}{}", printable(place),
          file.is_absolute() ? " by its absolute path" : ", which the bundle does not have"));
    }
  }

  void miss(const std::string& what) {
    is_whole_ = false;
    remarks_.push_back(what + "; put it there to run the extracted program");
  }

  const Bundle& bundle_;
  const fs::path& folder_;
  std::vector<std::string>& remarks_;
  Extraction extraction_;
  std::set<std::string> taken_;   // the names of files in the folder
  std::set<std::string> missed_;  // files that a remark names already
  bool is_whole_ = true;
};

}  // namespace

ExtractedBundle extract_bundle(const Bundle& bundle, const fs::path& folder, const FileGuard& files,
                               std::vector<std::string>& remarks) {
  return BundleExtraction(bundle, folder, files, remarks).run();
}

}  // namespace baton::tools
