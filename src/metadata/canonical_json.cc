#include "metadata/canonical_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "metadata/base64.h"
#include "metadata/canonical.h"
#include "metadata/remarks.h"

namespace baton::metadata {
namespace {

constexpr std::string_view kModuleKeys[] = {kCanonicalKey, "requires", "functions", "code",
                                            "sources"};
constexpr std::string_view kCanonicalKeys[] = {"symbol", "requires", "parameters",       "operands",
                                               "flags",  "rules",    "kernel_attributes"};
constexpr std::string_view kCodeKeys[] = {"label", "requires", "base64"};

// Keys that are unknown are passed over, unless the object itself says that they are required.
void check_keys(const Json& object, std::span<const std::string_view> known,
                const std::string& where, std::vector<std::string>& remarks) {
  const auto is_known = [&](std::string_view key) {
    return std::find(known.begin(), known.end(), key) != known.end();
  };
  for (const std::string& needed : string_list(object, "requires", where)) {
    if (!is_known(needed)) {
      throw error(ErrorCode::kInvalidInput, "{} requires \"{}\", which this Baton does not know{}",
                  where, printable(needed), suggestion(needed, known));
    }
  }
  for (const auto& [key, value] : object.items()) {
    if (!is_known(key)) {
      remark(remarks, fmt::format("{}: the unknown key \"{}\" is ignored", where, printable(key)));
    }
  }
}

const Json& member(const Json& object, std::string_view key, const std::string& where) {
  const Json* found = find_member(object, key);
  if (found == nullptr) throw error(ErrorCode::kInvalidInput, "{} has no \"{}\"", where, key);
  return *found;
}

FunctionMetadata read_function(const Json& info, const std::string& where,
                               std::vector<std::string>& remarks) {
  check_keys(require_object(info, where), kCanonicalKeys, where, remarks);
  FunctionMetadata::Parts parts;
  parts.symbol = require_string(member(info, "symbol", where), where + ".symbol");
  for (const std::string& text : string_list(info, "parameters", where)) {
    parts.parameters.push_back(
        parse_parameter(text, fmt::format("{}.parameters[{}]", where, parts.parameters.size())));
  }
  parts.operands = string_list(info, "operands", where);
  parts.flags = string_list(info, "flags", where);
  const std::string rules = where + ".rules";
  parts.rules = parse_rules(require_string(member(info, "rules", where), rules), rules);
  if (const Json* attributes = find_member(info, "kernel_attributes")) {
    const std::string place = where + ".kernel_attributes";
    for (const auto& [name, value] : require_object(*attributes, place).items()) {
      parts.kernel_attributes.emplace(name, require_integer(value, place + "." + printable(name)));
    }
  }
  return FunctionMetadata(std::move(parts));
}

void read_code(const Json& code, const std::string& where, ModuleMetadata::Parts& parts,
               std::vector<std::string>& remarks) {
  check_keys(require_object(code, where), kCodeKeys, where, remarks);
  parts.label = require_string(member(code, "label", where), where + ".label");
  auto bytes = from_base64(require_string(member(code, "base64", where), where + ".base64"));
  if (!bytes) throw error(ErrorCode::kInvalidInput, "{}.base64 is not base64", where);
  parts.code = std::move(*bytes);
}

Json to_json(const FunctionMetadata& function) {
  Json info = {{"symbol", function.symbol()},
               {"parameters", Json::array()},
               {"operands", function.operands()},
               {"rules", to_string(function.rules())}};
  for (const auto& parameter : function.parameters()) {
    info["parameters"].push_back(parameter_text(parameter));
  }
  if (!function.flags().empty()) info["flags"] = function.flags();
  if (!function.kernel_attributes().empty()) {
    info["kernel_attributes"] = function.kernel_attributes();
  }
  return info;
}

}  // namespace

ModuleMetadata read_canonical_json(const Json& document, const std::string& name,
                                   std::vector<std::string>& remarks) {
  check_version(require_integer(member(document, kCanonicalKey, name), name + ": baton_metadata"),
                name);
  check_keys(document, kModuleKeys, name, remarks);
  ModuleMetadata::Parts parts;
  parts.name = name;
  const std::string where = name + ": functions";
  for (const Json& info : require_array(member(document, "functions", name), where)) {
    parts.functions.push_back(
        read_function(info, fmt::format("{}[{}]", where, parts.functions.size()), remarks));
  }
  if (const Json* code = find_member(document, "code")) {
    read_code(*code, name + ": code", parts, remarks);
  }
  if (const Json* sources = find_member(document, "sources")) {
    const std::string place = name + ": sources";
    for (const auto& [language, text] : require_object(*sources, place).items()) {
      parts.sources.emplace(language, require_string(text, place + "." + printable(language)));
    }
  }
  return ModuleMetadata(std::move(parts));
}

}  // namespace baton::metadata

namespace baton {

std::string metadata_json(const ModuleMetadata& module) {
  Json document = {{metadata::kCanonicalKey, metadata::kCanonicalVersion},
                   {"functions", Json::array()}};
  for (const FunctionMetadata& function : module.functions()) {
    document["functions"].push_back(metadata::to_json(function));
  }
  if (module.image() || !module.label().empty()) {
    const std::string_view bytes = module.image() ? module.image()->bytes() : std::string_view();
    document["code"] = {{"label", module.label()}, {"base64", metadata::to_base64(bytes)}};
  }
  if (!module.sources().empty()) document["sources"] = module.sources();
  return to_text(document, module.name());
}

}  // namespace baton
