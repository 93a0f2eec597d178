#include "cli/commands/inspect_metadata.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/output/table.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string type_name(const FunctionMetadata::Parameter& parameter) {
  return parameter.tensor_map ? "tensor map" : parameter.type.name();
}

Json json_of(const FunctionMetadata& function) {
  Json params = Json::array();
  for (const FunctionMetadata::Parameter& parameter : function.parameters()) {
    params.push_back({{"type", type_name(parameter)}});
  }
  return {{"symbol", function.symbol()},
          {"params", std::move(params)},
          {"launch_values", function.operands()},
          {"flags", function.flags()},
          {"rules", to_string(function.rules())},
          {"kernel_attributes", function.kernel_attributes()},
          {"pdl", function.pdl()},
          {"cooperative", function.cooperative()},
          {"cluster", function.cluster()}};
}

Json json_of(const ModuleMetadata& module) {
  Json functions = Json::array();
  for (const FunctionMetadata& function : module.functions()) {
    functions.push_back(json_of(function));
  }
  Json sources = Json::array();
  for (const auto& [language, text] : module.sources()) sources.push_back(language);
  return {{"name", module.name()},
          {"label", module.label().empty() ? Json() : Json(module.label())},
          {"image", module.image() ? Json(to_string(module.image()->kind())) : Json()},
          {"sources", std::move(sources)},
          {"functions", std::move(functions)}};
}

// "rows_kernel(handle, handle, int32, float32)".
std::string signature(const FunctionMetadata& function) {
  std::string types;
  for (const FunctionMetadata::Parameter& parameter : function.parameters()) {
    if (!types.empty()) types += ", ";
    types += type_name(parameter);
  }
  return fmt::format("{}({})", printable(function.symbol()), types);
}

std::string attributes_text(const FunctionMetadata& function) {
  std::string text;
  for (const auto& [name, value] : function.kernel_attributes()) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

void show_functions(const ModuleMetadata& module, Output& output) {
  if (module.functions().empty()) return;
  Table table({{"function"}, {"launch values"}, {"always"}, {"compiled with"}});
  for (const FunctionMetadata& function : module.functions()) {
    table.add({signature(function), fmt::format("{}", fmt::join(function.operands(), ", ")),
               fmt::format("{}", fmt::join(function.flags(), ", ")), attributes_text(function)});
  }
  output.line("");
  output.text(table.format(output.terminal()));
}

}  // namespace

void show_metadata(const FoundMetadata& found, Output& output) {
  Json modules = Json::array();
  for (const ModuleMetadata& module : found.modules) {
    modules.push_back(json_of(module));
    show_functions(module, output);
  }
  for (const std::string& remark : found.remarks) output.warning(remark);
  output.result()["metadata"] = std::move(modules);
}

}  // namespace baton::cli
