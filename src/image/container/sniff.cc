#include "image/container/sniff.h"

#include <cstdint>

#include "base/error.h"
#include "image/container/bytes.h"
#include "image/container/elf.h"
#include "image/container/fatbin.h"

namespace baton::image {
namespace {

// What is often taken for an image, by its first bytes.
struct Mistaken {
  std::string_view magic;
  std::string_view what;
};
constexpr std::string_view kZip = "PK\x03\x04";
constexpr Mistaken kMistaken[] = {
    {kZip, "a zip archive (a wheel is one); unpack it first"},
    {"\x1f\x8b", "compressed by gzip; unpack it first"},
    {"\x28\xb5\x2f\xfd", "compressed by zstd; unpack it first"},
    {"BC\xc0\xde", "LLVM bitcode; compile it to PTX first"},
    {"\xde\xc0\x17\x0b", "LLVM bitcode; compile it to PTX first"},
};

// A bundle's first entry comes after the fixed part of its header (docs/bundles.md).
constexpr std::size_t kZipEntryName = 30;
constexpr std::string_view kBundleIndex = "baton.index";

bool begins_as_bundle(std::string_view bytes) {
  return bytes.starts_with(kZip) && bytes.size() > kZipEntryName &&
         kBundleIndex.starts_with(bytes.substr(kZipEntryName, kBundleIndex.size()));
}

// What Tile IR bytecode begins with ("Magic Number", Tile IR 13.1). The version follows.
constexpr std::string_view kTileIr("\x7fTileIR\0", 8);

}  // namespace

bool starts_with_ptx_version(std::string_view text) {
  for (;;) {
    const std::size_t start = text.find_first_not_of(" \t\r\n\v\f");
    if (start == std::string_view::npos) return false;
    text.remove_prefix(start);
    std::size_t end;
    if (text.starts_with("//")) {
      end = text.find('\n');
    } else if (text.starts_with("/*")) {
      end = text.find("*/", 2);
      if (end != std::string_view::npos) end += 1;
    } else {
      constexpr std::string_view kVersion = ".version";
      return text.starts_with(kVersion) && text.size() > kVersion.size() &&
             (text[kVersion.size()] == ' ' || text[kVersion.size()] == '\t');
    }
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
}

std::optional<ImageKind> kind_of(std::string_view bytes) {
  if (ElfFile::has_magic(bytes)) {
    if (ElfFile::machine_of(bytes) != ElfFile::kMachineCuda) return std::nullopt;
    return ImageKind::kCubin;
  }
  if (load<std::uint32_t>(bytes, 0) == kFatbinMagic) return ImageKind::kFatbin;
  if (starts_with_ptx_version(bytes)) return ImageKind::kPtx;
  return std::nullopt;
}

ImageKind sniff(std::string_view bytes, std::string_view name) {
  if (bytes.empty()) throw error(ErrorCode::kInvalidInput, "{} is empty: it holds no image", name);
  if (const auto kind = kind_of(bytes)) return *kind;
  if (ElfFile::has_magic(bytes)) {
    const std::uint16_t machine = ElfFile::machine_of(bytes);
    throw error(ErrorCode::kInvalidInput,
                "{} is an ELF file for machine {}, not a cubin (machine {}); if it is a program or "
                "library that embeds images, extract them with baton inspect --extract",
                name, machine, ElfFile::kMachineCuda);
  }
  if (bytes.starts_with(kTileIr) && bytes.size() >= kTileIr.size() + 2) {
    const auto number = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
    throw error(
        ErrorCode::kInvalidInput,
        "{} is CUDA Tile IR bytecode {}.{}, which Baton does not load; compile it to a cubin "
        "first (tileiras)",
        name, number(kTileIr.size()), number(kTileIr.size() + 1));
  }
  if (bytes.starts_with("\xef\xbb\xbf") && starts_with_ptx_version(bytes.substr(3))) {
    throw error(ErrorCode::kInvalidInput,
                "{} begins with a byte order mark, which PTX assemblers reject; remove it", name);
  }
  if (begins_as_bundle(bytes)) {
    throw error(ErrorCode::kInvalidInput, "{} is a Baton bundle, not an image; open it as a bundle",
                name);
  }
  for (const auto& [magic, what] : kMistaken) {
    if (bytes.starts_with(magic)) throw error(ErrorCode::kInvalidInput, "{} is {}", name, what);
  }
  throw error(
      ErrorCode::kInvalidInput,
      "{} is not a kernel image: it is neither PTX (which begins with .version), nor a cubin, "
      "nor a fatbin; compile CUDA source first (baton compile)",
      name);
}

}  // namespace baton::image
