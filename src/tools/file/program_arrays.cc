#include "tools/file/program_arrays.h"

#include <filesystem>

#include "base/array/npy.h"
#include "base/error.h"
#include "base/file/file.h"
#include "base/text/suggest.h"
#include "program/buffer_roles.h"

namespace baton::tools {
namespace {

bool is_served(const ProgramBuffer& buffer, Serves serves) {
  return serves == Serves::kAll || facts_of(buffer.role).takes_input;
}

}  // namespace

const ProgramBuffer& named_buffer(const Program& program, std::string_view option,
                                  const std::string& name, Serves serves) {
  const ProgramBuffer* buffer = program.buffer(name);
  if (buffer == nullptr) {
    std::vector<std::string> names;
    for (const ProgramBuffer& known : program.buffers()) {
      if (is_served(known, serves)) names.push_back(known.name);
    }
    throw error(ErrorCode::kNotFound, "{} names no buffer of the program: \"{}\"{}", option, name,
                suggestion(name, names));
  }
  if (!is_served(*buffer, serves)) {
    throw error_at(buffer->where, ErrorCode::kInvalidInput,
                   "{} serves {} buffers, \"{}\" has the role {}; change its role", option,
                   names_of_roles(&RoleFacts::takes_input), name, to_string(buffer->role));
  }
  return *buffer;
}

NamedArrays read_arrays(const Program& program, std::string_view option,
                        const std::vector<Assignment>& files, Serves serves) {
  NamedArrays arrays;
  for (const auto& [name, file] : files) {
    const ProgramBuffer& buffer = named_buffer(program, option, name, serves);
    arrays.emplace_back(name, read_npy(file, buffer.dtype));
  }
  return arrays;
}

void require_target(std::string_view option, const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw error(ErrorCode::kNotFound, "{}: there is no folder {}; create it first", option,
                folder.string());
  }
  if (std::filesystem::is_directory(file)) {
    throw error(ErrorCode::kInvalidInput, "{}: {} is a folder; name a file", option, file.string());
  }
  try {
    require_writable(file);
  } catch (const Error& failure) {
    throw error(failure.code(), "{}: {}", option, failure.message());
  }
}

void check_outputs(const Program& program, const std::vector<Assignment>& outputs) {
  for (const auto& [name, file] : outputs) {
    named_buffer(program, "--output", name, Serves::kAll);
    require_target(fmt::format("--output {}={}", name, file), file);
  }
}

}  // namespace baton::tools
