#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "baton/image.h"
#include "cli/commands.h"
#include "cli/kernel_table.h"
#include "cli/table.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

void show_variables(const ImageFacts& facts, Output& output) {
  Json& json = output.result()["variables"] = Json::array();
  Table table({{"variable"}, {"bytes", Table::Align::kRight}, {"space"}});
  for (const VariableFacts& variable : facts.variables) {
    const char* space = variable.constant ? "constant" : "global";
    json.push_back({{"name", variable.name}, {"size", variable.size}, {"space", space}});
    table.add({printable(variable.name), std::to_string(variable.size), space});
  }
  if (!facts.variables.empty()) {
    output.line("");
    output.text(table.format(output.colour()));
  }
}

// The image as a file of its own, named after what it is.
void extract(const Image& image, const InspectCommand& command, Output& output) {
  std::filesystem::create_directories(*command.extract);
  const std::filesystem::path target =
      *command.extract / command.image.stem().concat(fmt::format(".{}", to_string(image.kind())));
  write_file_atomically(target, image.bytes());
  output.result()["extracted"] = Json::array({target.string()});
  output.line("\nwrote {}", target.string());
}

}  // namespace

void inspect(const InspectCommand& command, Output& output) {
  const Image image = Image::from_file(command.image);
  const ImageFacts facts = read_facts(image);
  Json& json = output.result();
  json["file"] = command.image.string();
  json["kind"] = to_string(image.kind());
  json["bytes"] = image.bytes().size();
  json["arch"] = facts.arch.empty() ? Json() : Json(facts.arch);
  json["producer"] = facts.producer.empty() ? Json() : Json(facts.producer);

  output.line("{}: {}, {}{}{}", command.image.string(), to_string(image.kind()),
              format_bytes(image.bytes().size()),
              facts.arch.empty() ? "" : fmt::format(", {}", facts.arch),
              facts.producer.empty() ? "" : fmt::format(", by {}", printable(facts.producer)));
  show_kernels(facts, output);
  show_variables(facts, output);
  for (const std::string& remark : facts.remarks) output.warning(remark);
  if (command.extract) extract(image, command, output);
}

}  // namespace baton::cli
