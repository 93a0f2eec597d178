#include "bundle/program_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "base/hash/hash.h"
#include "baton/bundle.h"
#include "bundle/check.h"
#include "bundle/test_support.h"
#include "program/record/program_record.h"

// Programs from the records of bundles, and what becomes of records that say something else.

namespace baton::program_part_test {
namespace {

using bundle::SectionRow;
using ::testing::HasSubstr;

const std::string& golden() {
  static const std::string bytes = read_file(BATON_SOURCE_DIR "/src/bundle/testdata/v1_2.baton");
  return bytes;
}

Program text_of_golden() {
  const Bundle opened = Bundle::from_bytes(golden(), "x.baton");
  return Program::from_text(opened.bytes("program.toml"), "x.baton/program.toml");
}

// The bundle with other bytes in its record, of the same number. Its checksums are right.
std::string with_record(std::string_view record) {
  const auto index = bundle_test::index_of(golden());
  const std::uint32_t section = index.section(bundle::kRecordSection);
  const std::uint64_t offset = index.sections[section].offset;
  EXPECT_EQ(index.sections[section].size, record.size());
  std::string bytes = golden();
  bytes.replace(offset, record.size(), record);
  return bundle_test::LyingBundle(bytes)
      .row<SectionRow>("sections", section,
                       [&](SectionRow& row) {
                         row.xxh3 = xxh3(record);
                         std::ranges::copy(sha256(record), row.sha256);
                       })
      .bytes();
}

std::string record_of_golden() {
  return std::string(Bundle::from_bytes(golden(), "x.baton").bytes("program.record"));
}

TEST(ProgramPart, ComesFromTheRecord) {
  std::string record = record_of_golden();
  const std::size_t symbol = record.find("golden");
  ASSERT_NE(symbol, std::string::npos);
  record.replace(symbol, 6, "other_");
  const std::string changed = with_record(record);
  EXPECT_EQ(Bundle::from_bytes(changed, "x.baton").program().name(), "other_");
  // Whoever compares both is told.
  try {
    Bundle::from_bytes(changed, "x.baton", Verify::kAll);
    FAIL();
  } catch (const Error& refusal) {
    EXPECT_EQ(refusal.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(refusal.message(),
                HasSubstr("x.baton/program.record says something else than x.baton/program.toml: "
                          "name is \"other_\" and not \"golden\"; build x.baton again"));
  }
}

TEST(ProgramPart, ComesFromTheTextWhereTheRecordIsOfAnotherVersionOrText) {
  for (const std::size_t at : {0, 4}) {
    std::string record = record_of_golden();
    record[at] = static_cast<char>(record[at] + 1);
    record.replace(record.find("golden"), 6, "other_");
    const Bundle opened = Bundle::from_bytes(with_record(record), "x.baton", Verify::kAll);
    EXPECT_EQ(opened.program(), text_of_golden());
  }
}

// What both say is one program, with its places.
TEST(ProgramPart, IsTheSameFromRecordAndText) {
  const Bundle opened = Bundle::from_bytes(golden(), "x.baton", Verify::kAll);
  EXPECT_EQ(opened.program(), text_of_golden());
  EXPECT_EQ(first_difference(opened.program().definition(), text_of_golden().definition()),
            std::nullopt);
  EXPECT_EQ(opened.program().text(), opened.bytes("program.toml"));
  EXPECT_EQ(opened.program().file(), "x.baton");
}

TEST(ProgramPart, IsRefusedWhereAByteOfTheRecordChanged) {
  const auto index = bundle_test::index_of(golden());
  const SectionRow row = index.sections[index.section(bundle::kRecordSection)];
  std::string bytes = golden();
  for (std::uint64_t at = row.offset; at < row.offset + row.size; ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_THROW(Bundle::from_bytes(bytes, "x.baton").program(), Error) << at;
    bytes[at] = golden()[at];
  }
}

// With checksums that are right: an error, or a program. Who compares it with the text lets no
// other program through.
TEST(ProgramPart, IsSafeToReadFromAnyRecord) {
  const std::string record = record_of_golden();
  const Program expected = text_of_golden();
  for (std::size_t at = 0; at < record.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = record;
      changed[at] = static_cast<char>(changed[at] ^ change);
      const std::string bytes = with_record(changed);
      const auto refused = [](const Error& refusal) {
        return refusal.code() == ErrorCode::kInvalidInput || refusal.code() == ErrorCode::kNotFound;
      };
      try {
        Bundle::from_bytes(bytes, "x.baton").program();
      } catch (const Error& refusal) {
        EXPECT_TRUE(refused(refusal)) << refusal.what();
      }
      try {
        EXPECT_EQ(Bundle::from_bytes(bytes, "x.baton", Verify::kAll).program(), expected) << at;
      } catch (const Error& refusal) {
        EXPECT_TRUE(refused(refusal)) << refusal.what();
      }
    }
  }
}

}  // namespace
}  // namespace baton::program_part_test
