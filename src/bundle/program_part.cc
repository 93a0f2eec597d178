#include "bundle/program_part.h"

#include <algorithm>
#include <utility>

#include "base/array/safetensors_model.h"
#include "base/error.h"
#include "base/hash/hash.h"
#include "base/text/text.h"
#include "bundle/check.h"
#include "program/reader/program_files.h"
#include "program/record/program_record.h"

namespace baton::bundle {
namespace {

// The program's text, by which its record is read.
RecordedText recorded_text(const BundleContent& content) {
  const std::uint32_t section = content.index.program[0].section;
  return {content.index.sections[section].xxh3, content.name_of(section), content.directory};
}

std::optional<ProgramDefinition> read_record(const BundleContent& content,
                                             const RecordedText& text) {
  const std::uint32_t section = content.index.section(kRecordSection);
  if (section == kNone) return std::nullopt;
  const auto record = content.hold(section);
  return read_program_record(record->get(), record->name(), text);
}

std::string_view name_in_index(const BundleContent& content) {
  return content.index.text(content.index.program[0].name);
}

// `name` is the program's if its text says none.
ProgramDefinition read_text(std::string_view toml, const RecordedText& text,
                            std::string_view name) {
  ProgramDefinition program =
      read_definition_text(toml, text.name, text.directory, Includes::kRefuse);
  if (program.name == text.name) program.name = name;
  return program;
}

// Gives the buffers their contents in the bundle.
void add_contents(const BundleContent& content, ProgramDefinition& program) {
  for (std::uint64_t number = 0; number < content.index.files.size(); ++number) {
    const FileRow held = content.index.files[number];
    const std::string_view name = content.index.text(held.buffer);
    const auto buffer = std::ranges::find(program.buffers, name, &ProgramBuffer::name);
    if (buffer == program.buffers.end() || buffer->init != BufferInit::kFile) {
      throw error(ErrorCode::kInvalidInput,
                  "{}: its index has contents of \"{}\", and its program initialises no buffer of "
                  "that name from a file",
                  content.file->name(), printable(name));
    }
    buffer->contents = content.hold(held.section);
    if (is_safetensors_index(buffer->contents->name()))
      buffer->content_shards = content.neighbours_of(held.section);
  }
}

}  // namespace

const Program& BundleContent::program() const {
  const std::lock_guard lock(mutex_);
  if (program_) return *program_;
  const RecordedText text = recorded_text(*this);
  // Whoever reads the record has the text too: it is part of the program.
  const auto toml = hold(index.program[0].section);
  std::optional<ProgramDefinition> definition = read_record(*this, text);
  if (!definition) definition = read_text(toml->get(), text, name_in_index(*this));
  definition->file = file->name();
  definition->text = toml->get();
  add_contents(*this, *definition);
  // What a compile needed lies where the bundle was built.
  for (ProgramKernel& kernel : definition->kernels) kernel.include.clear();
  // What a run should leave is compared where it is known.
  for (ProgramBuffer& buffer : definition->buffers) {
    if (buffer.expect.empty()) continue;
    std::error_code failure;
    if (!std::filesystem::is_regular_file(buffer.expect, failure)) buffer.expect.clear();
  }
  return program_.emplace(check_program(std::move(*definition), text.name));
}

std::string make_record(std::string_view toml, const std::string& document, std::string_view name) {
  const RecordedText text{xxh3(toml), document, {}};
  const Program program = check_program(read_text(toml, text, name), document);
  return write_program_record(program.definition(), text);
}

void verify_record(const BundleContent& content) {
  const RecordedText text = recorded_text(content);
  const std::optional<ProgramDefinition> record = read_record(content, text);
  if (!record) return;
  const auto toml = content.hold(content.index.program[0].section);
  const std::string_view name = name_in_index(content);
  const std::uint32_t section = content.index.section(kRecordSection);
  if (make_record(toml->get(), text.name, name) == content.bytes(section)) return;
  const Program program = check_program(read_text(toml->get(), text, name), text.name);
  const auto difference = first_difference(*record, program.definition());
  if (!difference) return;
  throw error(ErrorCode::kInvalidInput, "{} says something else than {}: {}; build {} again",
              content.name_of(section), text.name, *difference, content.file->name());
}

}  // namespace baton::bundle
