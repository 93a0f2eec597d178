#include "tools/cache/cache_archive.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/error.h"
#include "base/file/file.h"
#include "base/file/mapped_file.h"
#include "base/hash/hash.h"
#include "base/text/text.h"
#include "bundle/zip.h"

namespace baton::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "compile/";
constexpr std::string_view kExtension = ".entry";
constexpr std::size_t kKeyDigits = 64;

std::string name_of(std::string_view key) {
  return fmt::format("{}{}/{}{}", kFolder, key.substr(0, 2), key, kExtension);
}

// The key of an entry by its path in the zip. Nothing for any other path: none leads elsewhere.
std::optional<std::string> key_of(std::string_view name) {
  const std::string_view file = name.substr(name.rfind('/') + 1);
  const std::string_view key = file.substr(0, kKeyDigits);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (key.size() != kKeyDigits || !std::ranges::all_of(key, is_digit) || name != name_of(key)) {
    return std::nullopt;
  }
  return std::string(key);
}

// As a zip with entries or one without begins.
bool is_zip(std::string_view bytes) {
  return bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6");
}

// An export takes the place of an earlier one, and of nothing else.
void require_archive(const fs::path& path) {
  std::error_code missing;
  if (!fs::is_regular_file(path, missing)) return;
  const auto file = MappedFile::open(path);
  if (file->bytes().empty() || is_zip(file->bytes())) return;
  throw error(ErrorCode::kInvalidInput,
              "{} exists and is not an archive of a compile cache; name another file",
              path.string());
}

}  // namespace

bool is_archive(const fs::path& path) {
  std::error_code failure;
  return fs::is_regular_file(path, failure) ||
         (path.extension() == ".zip" && !fs::is_directory(path, failure));
}

Cache::Copied export_archive(const Cache& cache, const fs::path& path) {
  require_writable(path);
  require_archive(path);
  Cache::Copied copied;
  std::deque<std::string> bytes;  // of headers and entries, in their order
  std::vector<bundle::ZipEntry> entries;
  std::vector<std::uint64_t> headers;
  std::uint64_t end = 0;
  copied.damaged = cache.for_each_whole([&](const Cache::Entry& found, std::string&& contents) {
    bundle::ZipEntry entry{name_of(found.key), 0, contents.size(), crc32(contents)};
    entry.offset = bundle::zip_place(entry.name, entry.size, end);
    headers.push_back(end);
    bytes.push_back(bundle::zip_header(entry, end));
    end = entry.offset + entry.size;
    ++copied.entries;
    copied.bytes += entry.size;
    bytes.push_back(std::move(contents));
    entries.push_back(std::move(entry));
  });
  bytes.push_back(bundle::zip_directory(entries, headers, end));
  const std::vector<std::string_view> parts(bytes.begin(), bytes.end());
  write_file_atomically(path, parts);
  return copied;
}

Cache::Copied import_archive(const Cache& cache, const fs::path& path) {
  const auto file = MappedFile::open(path);
  const std::string_view bytes = file->bytes();
  if (!is_zip(bytes)) {
    throw error(ErrorCode::kInvalidInput,
                "{} is not an archive of a compile cache; name a file or a folder that baton cache "
                "export wrote",
                path.string());
  }
  Cache::Copied copied;
  std::size_t others = 0;
  const std::vector<bundle::ZipEntry> entries = bundle::read_zip_directory(bytes, path.string());
  for (const bundle::ZipEntry& entry : entries) {
    const auto key = key_of(entry.name);
    if (!key) {
      others += !entry.name.ends_with('/');
      continue;
    }
    if (!entry.is_stored) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: {} is compressed; unpack the file and import the folder, or export it again",
                  path.string(), entry.name);
    }
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: {}, {} bytes at byte {}, does not lie in the {} bytes of the file",
                  path.string(), entry.name, entry.size, entry.offset, bytes.size());
    }
    const std::string_view part = bytes.substr(entry.offset, entry.size);
    const std::optional<std::string> own = file->copy(part);
    cache.import_entry(*key, own ? *own : part, path.string() + "/" + entry.name, copied);
  }
  if (others == entries.size()) {
    throw error(ErrorCode::kInvalidInput,
                "{} has no entry of a compile cache; name a file that baton cache export wrote",
                path.string());
  }
  return copied;
}

}  // namespace baton::tools
