#include "bundle/assemble.h"

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "bundle/zip.h"

namespace baton::bundle {

void write_sections(IndexWriter index, const std::map<std::string, std::string_view>& sections,
                    const std::filesystem::path& path) {
  std::vector<ZipEntry> entries = {{std::string(kIndexEntry), kPage, index.size(), 0}};
  std::vector<std::uint64_t> headers = {0};
  std::uint64_t end = kPage + index.size();
  std::size_t number = 0;
  for (const auto& [name, bytes] : sections) {
    SectionRow& row = index.sections[number++];
    row.offset = zip_place(name, bytes.size(), end);
    row.size = bytes.size();
    row.xxh3 = xxh3(bytes);
    std::ranges::copy(sha256(bytes), row.sha256);
    entries.push_back({name, row.offset, row.size, crc32(bytes)});
    headers.push_back(end);
    end = row.offset + row.size;
  }
  // The directory's size does not depend on the index's checksum, which it contains.
  const std::uint64_t file_size = end + zip_directory(entries, headers, end).size();
  const std::string index_bytes = index.write(file_size);
  entries[0].crc32 = crc32(index_bytes);

  std::vector<std::string> between;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    between.push_back(zip_header(entries[i], headers[i]));
  }
  between.push_back(zip_directory(entries, headers, end));
  std::vector<std::string_view> parts = {between[0], index_bytes};
  number = 1;
  for (const auto& [name, bytes] : sections) {
    parts.push_back(between[number++]);
    parts.push_back(bytes);
  }
  parts.push_back(between.back());
  write_file_atomically(path, parts);
}

}  // namespace baton::bundle
