#include "tools/file/extraction.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file/file.h"
#include "base/hash/hash.h"
#include "image/container/fatbin.h"
#include "image/cubin/cubin.h"

namespace baton::tools {
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

}  // namespace

Extraction::Extraction(std::string_view option, std::filesystem::path folder,
                       const FileGuard& files, std::vector<std::string>& remarks)
    : option_(option),
      folder_(std::move(folder)),
      files_(files),
      remarks_(remarks),
      list_(std::make_unique<Json>(Json::array())) {
  std::error_code failure;
  std::filesystem::create_directories(folder_, failure);
  if (failure) {
    throw error(ErrorCode::kInvalidInput, "{} {}: {}", option, folder_.string(), failure.message());
  }
}

Extraction::~Extraction() = default;

Json& Extraction::write(const std::string& name, std::string_view bytes, std::string_view kind) {
  const std::filesystem::path target = folder_ / name;
  if (name.find('/') != std::string::npos) {
    std::filesystem::create_directories(target.parent_path());
  }
  files_.require(fmt::format("{} {}: {}", option_, folder_.string(), name), target);
  write_file_atomically(target, bytes);
  written_.push_back(target.string());
  list_->push_back(
      {{"file", name}, {"kind", kind}, {"bytes", bytes.size()}, {"sha256", to_hex(sha256(bytes))}});
  return list_->back();
}

void Extraction::make_folder(const std::string& name) {
  std::filesystem::create_directories(folder_ / name);
}

Json& Extraction::write_image(const Image& image, const std::string& stem) {
  const std::size_t index = list_->size();
  const std::string name = fmt::format("{}.{}", stem, to_string(image.kind()));
  write(name, image.bytes(), to_string(image.kind()));
  if (image.kind() == ImageKind::kFatbin) add_members(image, name, stem);
  if (image.kind() == ImageKind::kCubin) add_debug_ptx(image.bytes(), name, stem);
  return (*list_)[index];
}

Json Extraction::take_list() {
  return std::exchange(*list_, Json::array());
}

std::vector<std::string> Extraction::finish(const Json& manifest) {
  const std::filesystem::path target = folder_ / "manifest.json";
  // Names and paths may hold bytes that are not UTF-8; JSON cannot.
  write_file_atomically(target,
                        manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  written_.push_back(target.string());
  return std::move(written_);
}

void Extraction::add_members(const Image& image, const std::string& name, const std::string& stem) {
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

void Extraction::add_debug_ptx(std::string_view cubin, const std::string& name,
                               const std::string& stem) {
  std::string text;
  if (!succeeds([&] { text = debug_ptx(cubin, name); }) || text.empty()) return;
  write(stem + ".debug.ptx", text, "ptx")["debug_of"] = name;
}

// What the bytes themselves make impossible is a remark; the other parts are still written.
template <typename Read>
bool Extraction::succeeds(Read read) {
  try {
    read();
    return true;
  } catch (const Error& unreadable) {
    remarks_.push_back(unreadable.message());
    return false;
  }
}

namespace {

// The sources that a module's metadata carries. A language is the writer's word, so that it names
// no file.
void add_sources(const ModuleMetadata& module, const std::string& stem, Extraction& extraction) {
  std::size_t index = 0;
  for (const auto& [language, text] : module.sources()) {
    const std::string_view ending = language == "cuda" ? "cu" : "txt";
    Json& entry =
        extraction.write(fmt::format("{}.source{}.{}", stem, index++, ending), text, "source");
    entry["language"] = language;
    entry["module"] = module.name();
  }
}

}  // namespace

std::vector<std::string> extract_images(const Contents& contents, const std::filesystem::path& file,
                                        const std::filesystem::path& folder, const FileGuard& files,
                                        std::vector<std::string>& remarks) {
  const FoundImages& found = contents.images;
  const bool whole = found.container.empty();
  const auto stem = [&](std::size_t index) {
    return fmt::format("{}.{}", file.filename().string(), index);
  };
  Extraction extraction("--extract", folder, files, remarks);
  for (std::size_t i = 0; i < found.images.size(); ++i) {
    const FoundImage& each = found.images[i];
    Json& entry = extraction.write_image(each.image, whole ? file.stem().string() : stem(i));
    entry["place"] = each.place;
    if (contents.has_offsets) entry["offset"] = each.offset;
  }
  for (std::size_t i = 0; contents.metadata && i < contents.metadata->modules.size(); ++i) {
    add_sources(contents.metadata->modules[i], stem(i), extraction);
  }
  return extraction.finish(
      {{"version", 1}, {"file", file.string()}, {"images", extraction.take_list()}});
}

}  // namespace baton::tools
