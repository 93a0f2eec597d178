#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "baton/program.h"
#include "program/record/program_record.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_refusal(const baton::Error& failure) {
  return failure.code() == baton::ErrorCode::kInvalidInput ||
         failure.code() == baton::ErrorCode::kNotFound;
}

// A record with these bytes behind the version and the checksum of the text, which no search would
// find.
std::string with_header(const std::uint8_t* data, std::size_t size) {
  std::string record(12, '\0');
  record[0] = static_cast<char>(baton::kProgramRecordVersion);
  record.append(reinterpret_cast<const char*>(data), size);
  return record;
}

}  // namespace

// What can be read can be written and read again, and is checked as every definition.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const baton::RecordedText text{0, "input.toml", ""};
  try {
    auto read = baton::read_program_record(with_header(data, size), "input", text);
    require(read.has_value());
    const auto again =
        baton::read_program_record(baton::write_program_record(*read, text), "again", text);
    require(again.has_value() && !baton::first_difference(*again, *read));
    const baton::Program program(std::move(*read));
  } catch (const baton::Error& refused) {
    require(is_refusal(refused));
  }
  return 0;
}
