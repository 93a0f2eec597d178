#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "baton/image.h"
#include "tools/file/contents.h"
#include "tools/file/file_guard.h"

namespace baton::tools {

// Writes what files are made of into a folder, byte for byte, and keeps the list of it that becomes
// manifest.json. What cannot be unpacked costs a remark; a file that cannot be written is an error.
class Extraction {
 public:
  // Makes the folder. `option` is what messages call it: "--extract". No file of `files` is
  // replaced. Both references outlive it.
  Extraction(std::string_view option, std::filesystem::path folder, const FileGuard& files,
             std::vector<std::string>& remarks);
  ~Extraction();

  // Writes one file and gives its entry of the list, {"file", "kind", "bytes", "sha256"}, which
  // may be added to until the next call. Slashes in `name` make folders.
  nlohmann::ordered_json& write(const std::string& name, std::string_view bytes,
                                std::string_view kind);

  // Makes a folder in which nothing may come to lie.
  void make_folder(const std::string& name);

  // Writes an image as STEM.KIND: beside a fatbin its members unpacked, beside a cubin the PTX that
  // it carries for debuggers. Gives the image's own entry.
  nlohmann::ordered_json& write_image(const Image& image, const std::string& stem);

  // The list so far; it starts anew.
  nlohmann::ordered_json take_list();

  // Writes manifest.json and gives the paths of all files.
  std::vector<std::string> finish(const nlohmann::ordered_json& manifest);

 private:
  void add_members(const Image& image, const std::string& name, const std::string& stem);
  void add_debug_ptx(std::string_view cubin, const std::string& name, const std::string& stem);
  template <typename Read>
  bool succeeds(Read read);

  std::string option_;
  std::filesystem::path folder_;
  const FileGuard& files_;
  std::vector<std::string>& remarks_;
  std::vector<std::string> written_;
  std::unique_ptr<nlohmann::ordered_json> list_;
};

// Writes the images of `file` into a folder, under names that say what each is, the sources that
// its metadata carries, and manifest.json, which says where each came from. An image that is a file
// of its own keeps the file's stem. Returns the paths written.
std::vector<std::string> extract_images(const Contents& contents, const std::filesystem::path& file,
                                        const std::filesystem::path& folder, const FileGuard& files,
                                        std::vector<std::string>& remarks);

}  // namespace baton::tools
