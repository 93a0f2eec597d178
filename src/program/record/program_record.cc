#include "program/record/program_record.h"

#include "base/file/byte_reader.h"
#include "base/file/byte_writer.h"
#include "base/text/text.h"
#include "program/record/program_listing.h"
#include "program/record/program_record_reader.h"
#include "program/record/program_record_writer.h"

namespace baton {

std::string write_program_record(const ProgramDefinition& program, const RecordedText& text) {
  ByteWriter out;
  out.number(kProgramRecordVersion);
  out.number(text.xxh3);
  ProgramRecordWriter writer(text.name);
  fields(writer, program);
  out.bytes(writer.take());
  return out.take();
}

std::optional<ProgramDefinition> read_program_record(std::string_view record,
                                                     const std::string& name,
                                                     const RecordedText& text) {
  ByteReader bytes(record, name);
  if (bytes.number<std::uint32_t>("the version") != kProgramRecordVersion) return std::nullopt;
  if (bytes.number<std::uint64_t>("the checksum of the text") != text.xxh3) return std::nullopt;
  ProgramRecordReader reader(bytes, text.name, text.directory);
  std::optional<ProgramDefinition> program(std::in_place);
  program->directory = text.directory;
  fields(reader, *program);
  bytes.expect_end("the steps");
  return program;
}

std::optional<std::string> first_difference(const ProgramDefinition& found,
                                            const ProgramDefinition& expected) {
  const ProgramListing is(found), wanted(expected);
  for (std::size_t i = 0; i < is.lines().size() && i < wanted.lines().size(); ++i) {
    const ProgramListing::Line &a = is.lines()[i], &b = wanted.lines()[i];
    if (a == b) continue;
    // Numbers of items and kinds are listed before what they tell apart.
    return fmt::format("{} is {} and not {}", b.way, printable(a.value), printable(b.value));
  }
  return std::nullopt;
}

}  // namespace baton
