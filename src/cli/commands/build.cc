#include <nlohmann/json.hpp>

#include "baton/bundle.h"
#include "baton/tvm_library.h"
#include "cli/commands/commands.h"
#include "cli/commands/unused_options.h"
#include "cli/output/counted.h"
#include "tools/basics.h"
#include "tools/file/program_file.h"

namespace baton::cli {

void build(const BuildCommand& command, Output& output) {
  nlohmann::ordered_json& json = output.result();
  json["program"] = command.program.string();
  json["output"] = command.output.string();
  if (Bundle::is_bundle(command.program)) {
    throw error(ErrorCode::kInvalidInput, "{} is a bundle already; build one from the program file",
                command.program.string());
  }
  tools::require_program(command.program);
  const Program program = Program::from_file(command.program);
  output.files().reads(program);
  for (const std::string& warning : program.warnings()) output.warning(warning);
  warn_of_unused(command, program, output);
  output.progress("compile");
  BundleOptions options{.architectures = command.architectures,
                        .sources = command.sources,
                        .weights = command.weights};
  if (!command.symbols.empty()) options.verdicts_for.push_back(command.symbols);
  if (command.key) options.key = SigningKey::from_file(*command.key);
  const auto remarks = write_bundle(program, command.output, options);
  for (const std::string& remark : remarks) output.warning(remark);
  // Whoever runs it asks for a key; whoever builds it need not.
  const Bundle written = Bundle::open(command.output, {Verify::kIndex, std::vector<PublicKey>()});
  const std::uint64_t bytes = std::filesystem::file_size(command.output);
  json["bytes"] = bytes;
  json["architectures"] = written.architectures();
  nlohmann::ordered_json& parts = json["parts"] = nlohmann::ordered_json::array();
  for (const BundlePart& part : written.parts()) parts.push_back(part.name);
  if (command.tvm_library) {
    write_tvm_library(command.output, *command.tvm_library);
    json["tvm_ffi"] = command.tvm_library->string();
  }
  std::string key;
  if (options.key) {
    key = options.key->public_key().id();
    json["signed_by"] = key;
  }
  output.line("wrote {}: {}, {}{}{}", command.output.string(),
              counted(written.parts().size(), "part"), format_bytes(bytes),
              tools::for_architectures(written), key.empty() ? "" : ", signed with the key " + key);
  if (command.tvm_library) {
    output.line("wrote {}: the same for tvm-ffi", command.tvm_library->string());
  }
}

}  // namespace baton::cli
