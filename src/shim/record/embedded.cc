#include "shim/record/embedded.h"

#include <link.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "baton/error.h"
#include "baton/image.h"
#include "shim/record/journal.h"

namespace baton::recorder {
namespace {

int collect(dl_phdr_info* info, std::size_t, void* data) {
  auto& paths = *static_cast<std::vector<std::string>*>(data);
  const std::string path = info->dlpi_name;
  if (!path.empty()) paths.push_back(path);
  if (path.empty() && paths.empty()) paths.emplace_back("/proc/self/exe");
  return 0;
}

// Libraries of kernels have gigabytes, and no PTX.
constexpr std::uintmax_t kMostBytes = 256 << 20;

void save_images_of(const std::string& path) {
  try {
    const std::uintmax_t size = std::filesystem::file_size(path);
    if (size > kMostBytes) {
      remark(path + " has " + std::to_string(size) +
             " bytes: kernels in it are not in the record, unless the driver is given them");
      return;
    }
    const FoundImages found = find_images(path);
    for (const FoundImage& each : found.images) {
      const record::ImageNote image = save_image(each.image.bytes(), 0);
      note(record::EventKind::kImage, 0, next_order(), 0, {{&image, sizeof image}},
           each.image.name());
    }
  } catch (const std::exception& unreadable) {
    remark(path + ": its images are not in the record: " + unreadable.what());
  }
}

}  // namespace

void note_embedded_images() {
  static std::mutex mutex;
  static auto& known = *new std::set<std::string>;
  std::vector<std::string> paths;
  dl_iterate_phdr(collect, &paths);
  const std::lock_guard lock(mutex);
  for (const std::string& path : paths) {
    // The kernel's own, which is not a file.
    if (path.find('/') == std::string::npos || !known.insert(path).second) continue;
    save_images_of(path);
  }
}

}  // namespace baton::recorder
