#include "bundle/assemble.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/file/file.h"
#include "base/hash/hash.h"
#include "bundle/rows.h"
#include "bundle/signature.h"
#include "bundle/zip.h"

namespace baton::bundle {
namespace {

// Changes a row in place. Fields that a later version appended stay.
template <typename Row, typename Change>
void change_row(RawTable& table, std::size_t number, Change&& change) {
  char* const place = table.bytes.data() + number * table.row_size;
  Row row;
  std::memcpy(&row, place, sizeof row);
  change(row);
  std::memcpy(place, &row, sizeof row);
}

// The entries of the zip, one after the other.
struct Entries {
  std::vector<ZipEntry> list;
  std::vector<std::uint64_t> headers;  // where their local headers begin
  std::uint64_t end = 0;

  std::uint64_t add(const std::string& name, std::uint64_t size, std::uint32_t sum) {
    const std::uint64_t offset = zip_place(name, size, end);
    list.push_back({name, offset, size, sum});
    headers.push_back(end);
    end = offset + size;
    return offset;
  }
};

void put_signing_table(RawIndex& index, const SigningKey* key) {
  std::erase_if(index.tables, [](const RawTable& table) { return table.name == kSigningTable; });
  if (key == nullptr) return;
  SigningRow row{};
  std::ranges::copy(key->public_key().bytes(), row.key);
  row.size = kSignatureBytes;
  row.algorithm = kEd25519;
  index.tables.push_back({std::string(kSigningTable), 0, sizeof row,
                          std::string(reinterpret_cast<const char*>(&row), sizeof row)});
}

// Gives the file's bytes in their order to `take`.
template <typename Take>
void assemble(RawIndex index, const std::map<std::string, std::string_view>& sections,
              const SigningKey* key, Take&& take) {
  put_signing_table(index, key);
  Entries entries;
  entries.add(std::string(kIndexEntry), index.size(), 0);
  std::size_t number = 0;
  for (const auto& [name, bytes] : sections) {
    const std::uint64_t offset = entries.add(name, bytes.size(), crc32(bytes));
    change_row<SectionRow>(*index.find("sections"), number++, [&](SectionRow& row) {
      row.offset = offset;
      row.size = bytes.size();
      row.xxh3 = xxh3(bytes);
      std::ranges::copy(sha256(bytes), row.sha256);
    });
  }
  if (key != nullptr) {
    const std::uint64_t offset = entries.add(std::string(kSignatureEntry), kSignatureBytes, 0);
    change_row<SigningRow>(*index.find(kSigningTable), 0,
                           [&](SigningRow& row) { row.offset = offset; });
  }
  // The directory's size does not depend on the checksums in it.
  const auto directory = [&] { return zip_directory(entries.list, entries.headers, entries.end); };
  const std::string index_bytes = index.write(entries.end + directory().size());
  entries.list.front().crc32 = crc32(index_bytes);
  std::string signature;
  if (key != nullptr) {
    signature = sign_index(index_bytes, *key);
    entries.list.back().crc32 = crc32(signature);
  }

  std::vector<std::string_view> contents = {index_bytes};
  for (const auto& [name, bytes] : sections) contents.push_back(bytes);
  if (key != nullptr) contents.push_back(signature);
  std::vector<std::string> between;
  for (std::size_t i = 0; i < entries.list.size(); ++i) {
    between.push_back(zip_header(entries.list[i], entries.headers[i]));
  }
  between.push_back(directory());
  std::vector<std::string_view> parts;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    parts.push_back(between[i]);
    parts.push_back(contents[i]);
  }
  parts.push_back(between.back());
  take(parts);
}

}  // namespace

std::string join_sections(RawIndex index, const std::map<std::string, std::string_view>& sections) {
  std::string bytes;
  assemble(std::move(index), sections, nullptr, [&](const std::vector<std::string_view>& parts) {
    for (const std::string_view part : parts) bytes += part;
  });
  return bytes;
}

void write_sections(RawIndex index, const std::map<std::string, std::string_view>& sections,
                    const SigningKey* key, const std::filesystem::path& path) {
  assemble(std::move(index), sections, key,
           [&](const std::vector<std::string_view>& parts) { write_file_atomically(path, parts); });
}

}  // namespace baton::bundle
