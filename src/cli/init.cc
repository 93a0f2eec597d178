#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/counted.h"
#include "tools/basics.h"
#include "tools/files.h"
#include "tools/program_draft.h"

namespace baton::cli {

void init(const InitCommand& command, Output& output) {
  const std::filesystem::path target =
      command.output ? *command.output : command.file.stem().concat(".toml");
  nlohmann::ordered_json& json = output.result();
  json["file"] = command.file.string();
  json["output"] = target.string();
  if (std::filesystem::exists(target)) {
    throw error(ErrorCode::kInvalidInput,
                "{} exists already; name another file with -o, or remove it", target.string());
  }
  output.progress("read and try the kernels");
  const tools::ProgramDraft draft = tools::draft_program(
      command.file,
      {.entries = command.entries, .arch = command.arch, .folder = target.parent_path()});
  tools::write_file(target, draft.text);
  json["kernels"] = draft.kernels;
  for (const std::string& remark : draft.remarks) output.warning(remark);
  output.line("wrote {}: {}; check the lines marked \"guess\", then: baton run {}", target.string(),
              counted(draft.kernels.size(), "kernel"), target.string());
}

}  // namespace baton::cli
