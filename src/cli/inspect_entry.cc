#include "cli/inspect_entry.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "baton/compile.h"
#include "cli/kernel_table.h"
#include "compile/cache/cache_entry.h"

namespace baton::cli {

bool is_cache_entry(const std::filesystem::path& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  std::ifstream in(path, std::ios::binary);
  std::string start(compiler::kCacheMagic.size(), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  return in && start == compiler::kCacheMagic;
}

void inspect_entry(const InspectCommand& command, Output& output) {
  if (command.extract) {
    throw error(
        ErrorCode::kInvalidInput,
        "{} is an entry of the compile cache, of which --extract writes nothing; compile its "
        "source with -o instead",
        command.image.string());
  }
  std::string damage;
  std::optional<compiler::Result> result =
      compiler::read_entry(read_file(command.image), command.image.stem().string(), &damage);
  if (!result) {
    throw error(ErrorCode::kDamaged, "{} is a damaged entry of the compile cache: {}",
                command.image.string(), damage);
  }
  Compiled compiled{Image::from_bytes(result->ptx, "the PTX of " + result->name), {}, {}, {}, {}};
  if (!result->cubin.empty()) {
    compiled.cubin = Image::from_bytes(result->cubin, "the cubin of " + result->name);
  }
  nlohmann::ordered_json& json = output.result();
  json["file"] = command.image.string();
  json["kind"] = "compile";
  json["source"] = result->name;
  json["arch"] = result->arch;
  json["compiler"] = result->compiler;
  json["entries"] = result->entries;
  json["seconds"] = result->seconds;
  output.line("{}: {} for {}, compiled by {} in {}", command.image.filename().string(),
              printable(result->name), result->arch, result->compiler,
              format_duration(result->seconds));
  compiled.kernels = std::move(result->kernels);
  show_kernels(read_facts(compiled), output, compiled.kernels);
}

}  // namespace baton::cli
