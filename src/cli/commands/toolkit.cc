#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "tools/toolkit/ptxas.h"

namespace baton::cli {

void toolkit(const ToolkitCommand& command, Output& output) {
  const std::filesystem::path from = tools::make_toolkit(command.folder, command.from);
  output.result()["toolkit"] = command.folder.string();
  output.result()["from"] = from.string();
  output.line("{} is {}, with a ptxas that keeps PTX inside its cubins", command.folder.string(),
              from.string());
}

}  // namespace baton::cli
