#include "base/file/mapped_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file/file.h"
#include "base/file/held_bytes.h"
#include "base/hash/hash.h"

namespace baton::mapped_file_test {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(auto&& work) {
  try {
    work();
  } catch (const Error& failure) {
    return failure.what();
  }
  return "nothing was refused";
}

TEST(MappedFile, HasTheBytesOfAFile) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "bytes";
  write_file_atomically(path, "some bytes");
  EXPECT_EQ(MappedFile::open(path)->bytes(), "some bytes");
  write_file_atomically(path, "");
  EXPECT_EQ(MappedFile::open(path)->bytes(), "");
  EXPECT_EQ(MappedFile::from_bytes("abc", "memory")->bytes(), "abc");
}

TEST(MappedFile, RefusesWhatItCannotMap) {
  const TemporaryDirectory folder;
  EXPECT_THAT(refusal_of([&] { MappedFile::open(folder.path() / "none"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(refusal_of([&] { MappedFile::open(folder.path()); }), HasSubstr("Is a directory"));
  EXPECT_THAT(refusal_of([&] { MappedFile::open("/dev/null"); }), HasSubstr("not a regular file"));
}

TEST(MappedFile, OutlivesAReplacementAndNoticesAShorterFile) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "bytes";
  write_file_atomically(path, std::string(10000, 'a'));
  const auto first = MappedFile::open(path);
  write_file_atomically(path, "b");
  EXPECT_EQ(first->bytes(), std::string(10000, 'a'));
  first->require_whole();

  write_file_atomically(path, std::string(10000, 'a'));
  const auto second = MappedFile::open(path);
  const HeldBytes held(second, second->bytes().substr(8000), std::uint64_t{0}, "the end");
  std::filesystem::resize_file(path, 10);
  EXPECT_THAT(refusal_of([&] { held.get(); }), HasSubstr("shrank from 10000 to 10 bytes"));
}

TEST(HeldBytes, AreCheckedBeforeTheirFirstUse) {
  const auto file = MappedFile::from_bytes("some bytes", "memory");
  const std::string_view bytes = file->bytes().substr(5);
  EXPECT_EQ(HeldBytes(file, bytes, xxh3("bytes"), "part").get(), "bytes");
  const HeldBytes damaged(file, bytes, xxh3("Bytes"), "part");
  EXPECT_EQ(damaged.size(), 5u);
  EXPECT_THAT(refusal_of([&] { damaged.get(); }), HasSubstr("part is damaged"));
}

// Larger than a piece, so that checksums are made of several.
TEST(HeldBytes, ReadMappedPartsFromTheFile) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "bytes";
  std::string bytes(700'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7 / 3);
  write_file_atomically(path, bytes);
  const auto file = MappedFile::open(path);
  const std::string_view part = file->bytes().substr(5);
  const auto held = [&](const HeldBytes::Sum& sum, HeldBytes::Keep keep) {
    return HeldBytes(file, part, sum, "part", keep);
  };
  char read[8] = {};
  const std::string want = bytes.substr(600'005, sizeof(read));
  for (const auto keep : {HeldBytes::Keep::kCopied, HeldBytes::Keep::kMapped}) {
    for (const HeldBytes::Sum& sum : {HeldBytes::Sum(xxh3(part)), HeldBytes::Sum(sha256(part))}) {
      held(sum, keep).read(600'000, sizeof(read), read);
      EXPECT_EQ(std::string_view(read, sizeof(read)), want);
    }
    EXPECT_THAT(refusal_of([&] { held(std::uint64_t{1}, keep).read(0, 1, read); }),
                HasSubstr("part is damaged"));
  }
  const HeldBytes mapped = held(xxh3(part), HeldBytes::Keep::kMapped);
  mapped.read(0, 1, read);
  std::filesystem::resize_file(path, 600'000);
  mapped.read(500'000, sizeof(read), read);
  EXPECT_EQ(std::string_view(read, sizeof(read)), bytes.substr(500'005, sizeof(read)));
  EXPECT_THAT(refusal_of([&] { mapped.read(600'000, sizeof(read), read); }),
              HasSubstr("shrank from 700000 to 600000 bytes"));
}

TEST(HeldBytes, AreCheckedByTheirSha256WhereThatIsKnown) {
  const auto file = MappedFile::from_bytes("some bytes", "memory");
  const HeldBytes whole(file, file->bytes(), sha256("some bytes"), "part");
  EXPECT_EQ(whole.get(), "some bytes");
  const HeldBytes damaged(file, file->bytes(), sha256("other bytes"), "part");
  EXPECT_THROW(damaged.get(), Error);
}

TEST(MappedFile, AnIdentityTellsStatesOfAFileApart) {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "file";
  write_file_atomically(path, "abc");
  const auto first = MappedFile::open(path);
  EXPECT_EQ(first->identity()->text, MappedFile::open(path)->identity()->text);
  write_file_atomically(path, "abd");
  EXPECT_NE(first->identity()->text, MappedFile::open(path)->identity()->text);
  EXPECT_FALSE(MappedFile::from_bytes("abc", "memory")->identity());
}

}  // namespace
}  // namespace baton::mapped_file_test
