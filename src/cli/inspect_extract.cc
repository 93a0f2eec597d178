#include "cli/inspect_extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "image/cubin.h"
#include "image/fatbin.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view ending_of(MemberFacts::Kind kind) {
  constexpr std::string_view kEndings[] = {"ptx", "cubin", "ltoir"};
  return kEndings[static_cast<std::size_t>(kind)];
}

// What -lineinfo and -G leave in a cubin: the PTX it was assembled from, a NUL after each line.
std::string debug_ptx(std::string_view bytes, const std::string& name) {
  constexpr std::uint32_t kProgramData = 1;
  const image::Cubin cubin(bytes, name);
  const image::Cubin::Section* section = cubin.section(".nv_debug_ptx_txt", kProgramData);
  if (section == nullptr) return {};
  std::string text(section->bytes);
  std::replace(text.begin(), text.end(), '\0', '\n');
  return text;
}

class Extraction {
 public:
  Extraction(std::filesystem::path folder, bool has_offsets, std::vector<std::string>& remarks)
      : folder_(std::move(folder)), has_offsets_(has_offsets), remarks_(remarks) {}

  void add(const FoundImage& found, const std::string& stem) {
    const Image& image = found.image;
    const std::string name = fmt::format("{}.{}", stem, to_string(image.kind()));
    Json& entry = write(name, image.bytes(), to_string(image.kind()));
    entry["place"] = found.place;
    if (has_offsets_) entry["offset"] = found.offset;
    if (image.kind() == ImageKind::kFatbin) add_members(image, name, stem);
    if (image.kind() == ImageKind::kCubin) add_debug_ptx(image.bytes(), name, stem);
  }

  // The sources that a module's metadata carries. A language is the writer's word, so that it names
  // no file.
  void add_sources(const ModuleMetadata& module, const std::string& stem) {
    std::size_t index = 0;
    for (const auto& [language, text] : module.sources()) {
      const std::string_view ending = language == "cuda" ? "cu" : "txt";
      Json& entry = write(fmt::format("{}.source{}.{}", stem, index++, ending), text, "source");
      entry["language"] = language;
      entry["module"] = module.name();
    }
  }

  std::vector<std::string> finish(const std::filesystem::path& file) {
    const Json manifest = {{"version", 1}, {"file", file.string()}, {"images", images_}};
    const std::filesystem::path target = folder_ / "manifest.json";
    write_file_atomically(target, manifest.dump(2) + "\n");
    written_.push_back(target.string());
    return std::move(written_);
  }

 private:
  Json& write(const std::string& name, std::string_view bytes, std::string_view kind) {
    const std::filesystem::path target = folder_ / name;
    write_file_atomically(target, bytes);
    written_.push_back(target.string());
    images_.push_back({{"file", name},
                       {"kind", kind},
                       {"bytes", bytes.size()},
                       {"sha256", to_hex(sha256(bytes))}});
    return images_.back();
  }

  void add_members(const Image& image, const std::string& name, const std::string& stem) {
    const image::Fatbin fatbin(image.bytes(), image.name());
    std::size_t index = 0;
    for (const image::FatbinMember& member : fatbin.members()) {
      const std::string own_stem = fmt::format("{}.{}.{}", stem, index++, member.facts.arch);
      const std::string own_name = fmt::format("{}.{}", own_stem, ending_of(member.facts.kind));
      std::string bytes;
      if (!succeeds([&] { bytes = fatbin.unpack(member); })) continue;
      Json& entry = write(own_name, bytes, ending_of(member.facts.kind));
      entry["arch"] = member.facts.arch;
      entry["member_of"] = name;
      if (member.facts.kind == MemberFacts::Kind::kCubin) add_debug_ptx(bytes, own_name, own_stem);
    }
  }

  void add_debug_ptx(std::string_view cubin, const std::string& name, const std::string& stem) {
    std::string text;
    if (!succeeds([&] { text = debug_ptx(cubin, name); }) || text.empty()) return;
    write(stem + ".debug.ptx", text, "ptx")["debug_of"] = name;
  }

  // What the bytes themselves make impossible is a remark; the other parts are still written.
  template <typename Read>
  bool succeeds(Read read) {
    try {
      read();
      return true;
    } catch (const Error& unreadable) {
      remarks_.push_back(unreadable.message());
      return false;
    }
  }

  std::filesystem::path folder_;
  bool has_offsets_;
  std::vector<std::string>& remarks_;
  std::vector<std::string> written_;
  Json images_ = Json::array();
};

}  // namespace

std::vector<std::string> extract_images(const Contents& contents, const std::filesystem::path& file,
                                        const std::filesystem::path& folder,
                                        std::vector<std::string>& remarks) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw error(ErrorCode::kInvalidInput, "--extract {}: {}", folder.string(), failure.message());
  }
  const FoundImages& found = contents.images;
  Extraction extraction(folder, contents.has_offsets, remarks);
  for (std::size_t i = 0; i < found.images.size(); ++i) {
    extraction.add(found.images[i], found.container.empty()
                                        ? file.stem().string()
                                        : fmt::format("{}.{}", file.filename().string(), i));
  }
  for (std::size_t i = 0; contents.metadata && i < contents.metadata->modules.size(); ++i) {
    extraction.add_sources(contents.metadata->modules[i],
                           fmt::format("{}.{}", file.filename().string(), i));
  }
  return extraction.finish(file);
}

}  // namespace baton::cli
