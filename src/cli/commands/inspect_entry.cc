#include "cli/commands/inspect_entry.h"

#include <nlohmann/json.hpp>

#include "cli/commands/kernel_filter.h"
#include "cli/report/kernel_table.h"
#include "tools/basics.h"
#include "tools/cache/cache_entry.h"

namespace baton::cli {

void inspect_entry(const InspectCommand& command, Output& output) {
  if (command.extract) {
    throw error(
        ErrorCode::kInvalidInput,
        "{} is an entry of the compile cache, of which --extract writes nothing; compile its "
        "source with -o instead",
        command.image.string());
  }
  refuse_filter(command, "an entry of the compile cache");
  tools::CacheEntry entry = tools::read_cache_entry(command.image);
  nlohmann::ordered_json& json = output.result();
  json["file"] = command.image.string();
  json["kind"] = "compile";
  json["source"] = entry.name;
  json["arch"] = entry.arch;
  json["compiler"] = entry.compiler;
  json["entries"] = entry.entries;
  json["seconds"] = entry.seconds;
  output.line("{}: {} for {}, compiled by {} in {}", command.image.filename().string(),
              printable(entry.name), entry.arch, entry.compiler, format_duration(entry.seconds));
  show_kernels(read_facts(entry.compiled), output, entry.compiled.kernels);
}

}  // namespace baton::cli
