#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "baton/program.h"

namespace baton {

// The record of a program: its definition in a binary form, which is read in a fraction of the time
// that its text takes. It belongs to one text and one version of the form. Whoever meets a record
// of another one reads the text.

// Of the form: program_fields.h, and how fields are written.
inline constexpr std::uint32_t kProgramRecordVersion = 1;

// What a record is read with: who has the text knows it.
struct RecordedText {
  std::uint64_t xxh3 = 0;           // of the text
  std::string name;                 // of the text in messages, and of the file in places
  std::filesystem::path directory;  // where relative paths start
};

// The record of a checked definition that was read from that text, in an empty directory. Throws
// kInvalidInput for what is in memory alone: images, and contents of buffers.
std::string write_program_record(const ProgramDefinition& program, const RecordedText& text);

// The definition without `file` and `text`; nothing if the record has another version or belongs to
// another text. Program checks it, as every definition. Any bytes are safe to read. Throws
// kInvalidInput for a record of this version that is wrong. `name` is the record's in messages.
std::optional<ProgramDefinition> read_program_record(std::string_view record,
                                                     const std::string& name,
                                                     const RecordedText& text);

// "kernels[2].entry is \"b\" and not \"a\"": the first field where two definitions differ, or
// nothing. Places count, what is in memory does not.
std::optional<std::string> first_difference(const ProgramDefinition& found,
                                            const ProgramDefinition& expected);

}  // namespace baton
