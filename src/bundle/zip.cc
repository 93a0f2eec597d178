#include "bundle/zip.h"

#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"
#include "bundle/rows.h"

namespace baton::bundle {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50, kEnd = 0x06054b50,
                        kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::uint16_t kExtra64 = 0x0001;     // sizes and offsets of 64 bits
constexpr std::uint16_t kExtraAlign = 0xD935;  // what Android's zipalign fills up headers with
constexpr std::uint16_t kStored = 0, kUtf8 = 1 << 11;
constexpr std::uint16_t kVersion = 20, kVersion64 = 45;
constexpr std::uint16_t kUnixVersion64 = 3 << 8 | kVersion64;
constexpr std::uint16_t kFirstDay = 1 << 5 | 1;  // 1 January 1980
constexpr std::uint32_t kOwnerReadsAndWrites = 0100644u << 16;
constexpr std::uint32_t kIn64 = 0xFFFFFFFF;
constexpr std::uint16_t kIn64Short = 0xFFFF;
constexpr std::uint64_t kFixedHeader = 30, kAlignField = 6, kSizes64 = 20, kEndSize = 22,
                        kLocatorSize = 20;

bool is_large(std::uint64_t number) {
  return number >= kIn64;
}

std::uint32_t low(std::uint64_t number) {
  return is_large(number) ? kIn64 : static_cast<std::uint32_t>(number);
}

std::uint64_t header_without_filling(std::string_view name, std::uint64_t size) {
  return kFixedHeader + name.size() + (is_large(size) ? kSizes64 : 0);
}

// What a local header and the directory say in the same way.
void write_common(ByteWriter& out, const ZipEntry& entry, std::uint16_t extra) {
  out.number(kUtf8);
  out.number(kStored);
  out.number(std::uint16_t{0});  // time
  out.number(kFirstDay);
  out.number(entry.crc32);
  out.number(low(entry.size));
  out.number(low(entry.size));
  out.number(static_cast<std::uint16_t>(entry.name.size()));
  out.number(extra);
}

std::uint64_t or_64(std::uint32_t number, ByteReader& extra) {
  return number == kIn64 ? extra.number<std::uint64_t>("a 64-bit number") : number;
}

void expect(ByteReader& reader, std::uint32_t signature, const char* what) {
  const std::uint64_t place = reader.place();
  if (reader.number<std::uint32_t>(what) == signature) return;
  throw error(ErrorCode::kInvalidInput, "{}: byte {} begins no {} of a zip", reader.name(), place,
              what);
}

// The numbers of 64 bits among the extra fields, or nothing.
std::string_view extra_64(ByteReader extra) {
  while (extra.remaining() > 0) {
    const auto id = extra.number<std::uint16_t>("an extra field");
    const std::string_view bytes =
        extra.bytes(extra.number<std::uint16_t>("an extra field"), "an extra field");
    if (id == kExtra64) return bytes;
  }
  return {};
}

struct DirectoryPlace {
  std::uint64_t entries, size, offset;
};

DirectoryPlace find_directory(std::string_view file, const std::string& name) {
  if (file.size() < kEndSize) {
    throw error(ErrorCode::kInvalidInput, "{}: a zip has at least {} bytes, this file {}", name,
                kEndSize, file.size());
  }
  const std::uint64_t at = file.size() - kEndSize;
  ByteReader end(file.substr(at), name, at);
  expect(end, kEnd, "end of the directory");
  end.bytes(6, "the numbers of disks");
  const auto entries = end.number<std::uint16_t>("the number of entries");
  const auto size = end.number<std::uint32_t>("the directory's size");
  const auto offset = end.number<std::uint32_t>("the directory's offset");
  if (entries != kIn64Short && size != kIn64 && offset != kIn64) return {entries, size, offset};
  ByteReader locator(file, name);
  locator.bytes(at < kLocatorSize ? file.size() + 1 : at - kLocatorSize, "the 64-bit locator");
  expect(locator, kLocator64, "64-bit locator");
  locator.bytes(4, "the number of a disk");
  ByteReader end64(file, name);
  end64.bytes(locator.number<std::uint64_t>("the 64-bit end's offset"), "the 64-bit end");
  expect(end64, kEnd64, "64-bit end");
  end64.bytes(28, "the 64-bit end");
  const auto entries64 = end64.number<std::uint64_t>("the number of entries");
  const auto size64 = end64.number<std::uint64_t>("the directory's size");
  return {entries64, size64, end64.number<std::uint64_t>("the directory's offset")};
}

}  // namespace

std::uint64_t zip_place(std::string_view name, std::uint64_t size, std::uint64_t begin) {
  const std::uint64_t least = begin + header_without_filling(name, size) + kAlignField;
  return (least + kPage - 1) / kPage * kPage;
}

std::string zip_header(const ZipEntry& entry, std::uint64_t begin) {
  const bool large = is_large(entry.size);
  const std::uint64_t filling =
      entry.offset - begin - header_without_filling(entry.name, entry.size);
  ByteWriter out;
  out.number(kLocalHeader);
  out.number(large ? kVersion64 : kVersion);
  write_common(out, entry, static_cast<std::uint16_t>(filling + (large ? kSizes64 : 0)));
  out.bytes(entry.name);
  if (large) {
    out.number(kExtra64);
    out.number(std::uint16_t{kSizes64 - 4});
    out.number(entry.size);
    out.number(entry.size);
  }
  out.number(kExtraAlign);
  out.number(static_cast<std::uint16_t>(filling - 4));
  out.number(static_cast<std::uint16_t>(kPage));
  out.bytes(std::string(filling - kAlignField, '\0'));
  return out.take();
}

std::string zip_directory(const std::vector<ZipEntry>& entries,
                          const std::vector<std::uint64_t>& headers, std::uint64_t begin) {
  ByteWriter out;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ZipEntry& entry = entries[i];
    ByteWriter extra;
    for (const std::uint64_t number : {entry.size, entry.size, headers[i]}) {
      if (is_large(number)) extra.number(number);
    }
    const std::size_t extra_size = extra.view().empty() ? 0 : extra.view().size() + 4;
    out.number(kDirectoryEntry);
    out.number(kUnixVersion64);
    out.number(extra_size == 0 ? kVersion : kVersion64);
    write_common(out, entry, static_cast<std::uint16_t>(extra_size));
    out.number(std::uint16_t{0});  // comment
    out.number(std::uint16_t{0});  // disk
    out.number(std::uint16_t{0});  // internal attributes
    out.number(kOwnerReadsAndWrites);
    out.number(low(headers[i]));
    out.bytes(entry.name);
    if (extra_size == 0) continue;
    out.number(kExtra64);
    out.number(static_cast<std::uint16_t>(extra.view().size()));
    out.bytes(extra.view());
  }
  const std::uint64_t size = out.view().size();
  const bool large = is_large(begin) || is_large(size) || entries.size() >= kIn64Short;
  if (large) {
    out.number(kEnd64);
    out.number(std::uint64_t{44});  // bytes that follow
    out.number(kUnixVersion64);
    out.number(kVersion64);
    out.number(std::uint64_t{0});  // disks
    out.count(entries.size());
    out.count(entries.size());
    out.number(size);
    out.number(begin);
    out.number(kLocator64);
    out.number(std::uint32_t{0});  // disk
    out.number(begin + size);
    out.number(std::uint32_t{1});  // disks
  }
  const auto count = large ? kIn64Short : static_cast<std::uint16_t>(entries.size());
  out.number(kEnd);
  out.number(std::uint32_t{0});  // disks
  out.number(count);
  out.number(count);
  out.number(large ? kIn64 : static_cast<std::uint32_t>(size));
  out.number(large ? kIn64 : static_cast<std::uint32_t>(begin));
  out.number(std::uint16_t{0});  // comment
  return out.take();
}

bool begins_as_bundle(std::string_view file) {
  constexpr std::string_view kMagic = "PK\3\4";
  // A file that was cut is one, too: in the magic, before the name, or in the name.
  if (file.size() <= kFixedHeader) {
    const std::size_t known = std::min(file.size(), kMagic.size());
    return known > 0 && file.substr(0, known) == kMagic.substr(0, known);
  }
  if (!file.starts_with(kMagic)) return false;
  const std::string_view name = file.substr(kFixedHeader, kIndexEntry.size());
  return kIndexEntry.starts_with(name);
}

std::vector<ZipEntry> read_zip_directory(std::string_view file, const std::string& name) {
  const DirectoryPlace place = find_directory(file, name);
  ByteReader reader(file, name);
  reader.bytes(place.offset, "the directory");
  std::vector<ZipEntry> entries;
  for (std::uint64_t left = place.entries; left > 0; --left) {
    expect(reader, kDirectoryEntry, "entry of the directory");
    reader.bytes(6, "an entry");
    ZipEntry entry;
    entry.is_stored = reader.number<std::uint16_t>("a method of compression") == kStored;
    reader.bytes(4, "an entry");
    entry.crc32 = reader.number<std::uint32_t>("a checksum");
    const auto stored = reader.number<std::uint32_t>("a size");
    const auto size = reader.number<std::uint32_t>("a size");
    const auto name_size = reader.number<std::uint16_t>("a name's size");
    const auto extra_size = reader.number<std::uint16_t>("an extra field's size");
    const auto comment_size = reader.number<std::uint16_t>("a comment's size");
    reader.bytes(8, "an entry");
    const auto header = reader.number<std::uint32_t>("a header's offset");
    entry.name = reader.bytes(name_size, "a name");
    ByteReader extra(extra_64(ByteReader(reader.bytes(extra_size, "an extra field"), name)), name);
    reader.bytes(comment_size, "a comment");
    entry.size = or_64(size, extra);
    or_64(stored, extra);
    ByteReader local(file, name);
    local.bytes(or_64(header, extra), "a local header");
    expect(local, kLocalHeader, "local header");
    local.bytes(22, "a local header");
    const auto local_name = local.number<std::uint16_t>("a name's size");
    const auto local_extra = local.number<std::uint16_t>("an extra field's size");
    local.bytes(local_name, "a name");
    local.bytes(local_extra, "an extra field");
    entry.offset = local.place();
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace baton::bundle
