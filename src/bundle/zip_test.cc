#include "bundle/zip.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file/file.h"
#include "base/file/mapped_file.h"
#include "bundle/rows.h"

namespace baton::bundle::zip_test {
namespace {

// Writes the zip of entries of those sizes with holes for their bytes, and reads its directory.
void expect_read_back(std::vector<ZipEntry> entries) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "x.zip";
  std::ofstream file(path, std::ios::binary);
  std::vector<std::uint64_t> headers;
  std::uint64_t end = 0;
  const auto write_at = [&](std::uint64_t place, std::string_view bytes) {
    file.seekp(static_cast<std::streamoff>(place));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  for (ZipEntry& entry : entries) {
    entry.offset = zip_place(entry.name, entry.size, end);
    EXPECT_EQ(entry.offset % kPage, 0u);
    const std::string header = zip_header(entry, end);
    EXPECT_EQ(end + header.size(), entry.offset);
    write_at(end, header);
    headers.push_back(end);
    end = entry.offset + entry.size;
  }
  write_at(end, zip_directory(entries, headers, end));
  file.close();
  const auto mapped = MappedFile::open(path);
  EXPECT_TRUE(begins_as_bundle(mapped->bytes()));
  const auto found = read_zip_directory(mapped->bytes(), "x.zip");
  ASSERT_EQ(found.size(), entries.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, entries[i].name);
    EXPECT_EQ(found[i].offset, entries[i].offset);
    EXPECT_EQ(found[i].size, entries[i].size);
    EXPECT_EQ(found[i].crc32, entries[i].crc32);
  }
}

// Whatever was cut off, the rest is told as a bundle.
TEST(Zip, KnowsABundleByItsFirstBytes) {
  const std::string header = zip_header({"baton.index", 4096, 100, 1}, 0);
  for (const std::size_t size : {1, 3, 4, 29, 30, 31, 45, 62, 63}) {
    EXPECT_TRUE(begins_as_bundle(header.substr(0, size))) << size;
  }
  EXPECT_FALSE(begins_as_bundle(""));
  EXPECT_FALSE(begins_as_bundle("[symbols]"));
  EXPECT_FALSE(begins_as_bundle("PKs = 1"));
  EXPECT_FALSE(begins_as_bundle(zip_header({"other.txt", 4096, 100, 1}, 0)));
}

TEST(Zip, ReadsBackWhatItWrote) {
  expect_read_back({{"baton.index", 0, 100, 1}, {"a", 0, 0, 2}, {"b/c.cu", 0, 4096, 3}});
}

// Holes take no room on the disk.
TEST(Zip, HasLargeFilesAndLargeOffsets) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  expect_read_back({{"baton.index", 0, 100, 1}, {"big", 0, 5 * kGiB, 2}, {"small", 0, 10, 3}});
  // Each of the two fits, and the directory begins after 4 GiB.
  expect_read_back({{"baton.index", 0, 100, 1}, {"x", 0, 3 * kGiB, 2}, {"y", 0, 3 * kGiB, 3}});
  // The last size that needs no 64 bits, and the first that does.
  expect_read_back({{"baton.index", 0, 100, 1}, {"x", 0, 4 * kGiB - 2, 2}});
  expect_read_back({{"baton.index", 0, 100, 1}, {"x", 0, 4 * kGiB - 1, 2}});
}

TEST(Zip, HasManyEntries) {
  std::vector<ZipEntry> entries = {{"baton.index", 0, 100, 1}};
  for (int i = 0; i < 66000; ++i) entries.push_back({std::to_string(i), 0, 0, 0});
  expect_read_back(std::move(entries));
}

TEST(Zip, RefusesWhatIsNotAZip) {
  for (const char* bytes : {"", "PK", "0123456789012345678901234567890123456789"}) {
    EXPECT_THROW(read_zip_directory(bytes, "x"), Error) << bytes;
  }
}

}  // namespace
}  // namespace baton::bundle::zip_test
