#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/file/file.h"
#include "baton/image.h"
#include "image/container/archive.h"
#include "image/container/elf.h"
#include "image/container/scan.h"

namespace baton {
namespace {

using image::ElfFile;
using image::ElfSection;

// The largest libraries there are stay below, in both.
constexpr std::uint64_t kMaxHostBytes = std::uint64_t{4} << 30;
constexpr std::size_t kMaxImages = 65536;

// Where compilers put fatbins; the second holds objects that a device link has consumed.
constexpr std::string_view kFatbinSections[] = {".nv_fatbin", "__nv_relfatbin"};

bool is_fatbin_section(const ElfSection& section) {
  return std::find(std::begin(kFatbinSections), std::end(kFatbinSections), section.name) !=
         std::end(kFatbinSections);
}

// Data that the program can read: arrays of bytes, too, may hold images.
bool may_hold_images(const ElfSection& section) {
  constexpr std::uint32_t kProgramData = 1;
  constexpr std::uint64_t kAllocated = 2, kExecutable = 4;
  if (is_fatbin_section(section)) return true;
  return section.type == kProgramData && (section.flags & kAllocated) != 0 &&
         (section.flags & kExecutable) == 0;
}

class ImageFinder {
 public:
  ImageFinder(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  FoundImages find() {
    if (image::is_archive(bytes_)) {
      out_.container = "archive";
      read_archive();
    } else if (is_host_elf(bytes_)) {
      out_.container = read_elf(bytes_, 0, "");
    } else {
      out_.images.push_back({Image::from_bytes(bytes_, name_), "", 0});
    }
    return std::move(out_);
  }

 private:
  static bool is_host_elf(std::string_view bytes) {
    return ElfFile::has_magic(bytes) && ElfFile::machine_of(bytes) != ElfFile::kMachineCuda;
  }

  void read_archive() {
    image::Archive archive = image::read_archive(bytes_, name_);
    out_.remarks = std::move(archive.remarks);
    for (const image::ArchiveMember& member : archive.members) {
      const std::string label = fmt::format("{}: ", member.name.substr(0, kMaxName));
      try {
        if (is_host_elf(member.bytes)) {
          read_elf(member.bytes, member.offset, label);
        } else {
          scan(member.bytes, member.offset, label + "bytes");
        }
      } catch (const Error& unreadable) {
        out_.remarks.push_back(label + unreadable.message());
      }
    }
  }

  // Reads the ELF file that begins at `offset` and says what it is.
  std::string read_elf(std::string_view bytes, std::uint64_t offset, const std::string& label) {
    const ElfFile file(bytes, name_, "file");
    std::vector<const ElfSection*> sections;
    bool is_program = file.type() == ElfFile::kLinked;
    for (const ElfSection& section : file.sections()) {
      is_program |= section.name == ".interp";
      if (section.is_readable && may_hold_images(section)) sections.push_back(&section);
    }
    std::stable_sort(
        sections.begin(), sections.end(),
        [](const ElfSection* a, const ElfSection* b) { return a->offset < b->offset; });
    // Sections of a broken file may overlap: each byte is looked at once.
    std::uint64_t seen = 0;
    for (const ElfSection* section : sections) {
      const std::uint64_t end = section->offset + section->size;
      if (end <= seen) continue;
      const std::uint64_t start = std::max(section->offset, seen);
      seen = end;
      const std::size_t before = out_.images.size();
      const std::string name = label + std::string(section->name.substr(0, kMaxName));
      scan(bytes.substr(start, end - start), offset + start, name, start - section->offset);
      if (before == out_.images.size() && is_fatbin_section(*section)) {
        out_.remarks.push_back(
            fmt::format("{}: its {} bytes do not contain a complete fatbin", name, section->size));
      }
    }
    // Without a section table there is nothing but the bytes.
    if (file.sections().empty()) scan(bytes, offset, label + "bytes");
    if (is_program) return "executable";
    return file.type() == ElfFile::kShared        ? "shared object"
           : file.type() == ElfFile::kRelocatable ? "object"
                                                  : "ELF file";
  }

  // `bytes` stand at `offset` in the file and `skipped` bytes into what `place` names.
  void scan(std::string_view bytes, std::uint64_t offset, const std::string& place,
            std::uint64_t skipped = 0) {
    image::scan_for_images(bytes, [&](ImageKind, std::uint64_t at, std::string_view found) {
      if (out_.images.size() >= kMaxImages) {
        out_.remarks.push_back(fmt::format("it holds more than {} images", kMaxImages));
        return false;
      }
      std::string where = fmt::format("{} + {:#x}", place, skipped + at);
      Image image = Image::from_bytes(found, fmt::format("{} ({})", name_, where));
      out_.images.push_back({std::move(image), std::move(where), offset + at});
      return true;
    });
  }

  static constexpr std::size_t kMaxName = 256;

  std::string_view bytes_;
  const std::string& name_;
  FoundImages out_;
};

}  // namespace

FoundImages find_images(std::string_view bytes, const std::string& name) {
  return ImageFinder(bytes, name).find();
}

FoundImages find_images(const std::filesystem::path& path) {
  return find_images(read_file(path, kMaxHostBytes), path.string());
}

}  // namespace baton
