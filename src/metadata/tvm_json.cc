#include "metadata/tvm_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "metadata/remarks.h"
#include "metadata/tvm_function.h"

namespace baton::metadata {
namespace {

constexpr std::string_view kTags = "launch_param_tags";
constexpr std::string_view kOldTags = "thread_axis_tags";  // TVM 0.7 and before
constexpr std::string_view kFields = "cuda_launch_fields";
constexpr std::string_view kAttributes = "cuda_kernel_attrs";
constexpr std::string_view kPdl = "has_programmatic_dependent_launch";  // of a draft

constexpr std::string_view kFunctionKeys[] = {"name",  "arg_types", kTags,       "arg_extra_tags",
                                              kFields, kOldTags,    kAttributes, kPdl};
// What begins so tells how a function is called: a reader that passes it over launches wrongly.
constexpr std::string_view kCallPrefixes[] = {"arg_",  "launch_", "thread_",
                                              "cuda_", "has_",    "use_"};

void check_keys(const Json& info, const std::string& where, std::vector<std::string>& remarks) {
  for (const auto& [key, value] : info.items()) {
    const std::string_view text = key;
    if (std::find(std::begin(kFunctionKeys), std::end(kFunctionKeys), text) !=
        std::end(kFunctionKeys)) {
      continue;
    }
    if (std::any_of(std::begin(kCallPrefixes), std::end(kCallPrefixes),
                    [&](std::string_view prefix) { return text.starts_with(prefix); })) {
      throw error(ErrorCode::kInvalidInput,
                  "{} has \"{}\", which says how it is called, and is unknown{}", where,
                  printable(text), suggestion(text, kFunctionKeys));
    }
    remark(remarks, fmt::format("{}: the unknown key \"{}\" is ignored", where, printable(text)));
  }
}

std::vector<MetadataType> read_types(const Json& info, const std::string& where) {
  if (find_member(info, "arg_types") == nullptr) {
    throw error(ErrorCode::kInvalidInput, "{} has no arg_types", where);
  }
  std::vector<MetadataType> types;
  for (const std::string& name : string_list(info, "arg_types", where)) {
    const auto type = MetadataType::parse(name);
    if (!type) {
      throw error(
          ErrorCode::kInvalidInput,
          "{}.arg_types[{}] is \"{}\", which is not a type of a kernel parameter: handle, bool, "
          "intN, uintN, floatN, bfloat16, float8_*, with the suffix xL for L lanes",
          where, types.size(), printable(name));
    }
    types.push_back(*type);
  }
  return types;
}

TvmFunction read_function(const std::string& symbol, const Json& info, const std::string& where,
                          std::vector<std::string>& remarks) {
  require_object(info, where);
  check_keys(info, where, remarks);
  TvmFunction raw;
  raw.name = symbol;
  if (const Json* name = find_member(info, "name")) {
    const std::string& own = require_string(*name, where + ".name");
    if (!own.empty() && own != symbol) {
      remark(remarks, fmt::format("{} calls itself \"{}\"; the key is the kernel's symbol", where,
                                  printable(own)));
    }
  }
  raw.types = read_types(info, where);
  raw.tags = string_list(info, kTags, where);
  if (find_member(info, kOldTags) != nullptr) {
    if (find_member(info, kTags) != nullptr) {
      throw error(ErrorCode::kInvalidInput, "{} has both {} and its older name {}", where, kTags,
                  kOldTags);
    }
    raw.tags = string_list(info, kOldTags, where);
  }
  if (const Json* tags = find_member(info, "arg_extra_tags")) {
    const std::string place = where + ".arg_extra_tags";
    for (const Json& tag : require_array(*tags, place)) {
      raw.extra_tags.push_back(
          require_integer(tag, fmt::format("{}[{}]", place, raw.extra_tags.size())));
    }
  }
  raw.fields = string_list(info, kFields, where);
  if (const Json* attributes = find_member(info, kAttributes)) {
    const std::string place = fmt::format("{}.{}", where, kAttributes);
    for (const auto& [name, value] : require_object(*attributes, place).items()) {
      raw.kernel_attributes.emplace_back(name, require_integer(value, place + "." + name));
    }
  }
  if (const Json* pdl = find_member(info, kPdl)) {
    raw.pdl = require_bool(*pdl, fmt::format("{}.{}", where, kPdl));
  }
  return raw;
}

}  // namespace

ModuleMetadata read_tvm_json(const Json& document, const std::string& name,
                             std::vector<std::string>& remarks) {
  const Json* functions = find_member(document, "func_info");
  if (functions == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "{} is not metadata: it has neither \"baton_metadata\" nor TVM's \"func_info\"",
                name);
  }
  for (const auto& [key, value] : document.items()) {
    if (key != "func_info" && key != "tvm_version") {
      remark(remarks, fmt::format("{}: the unknown key \"{}\" is ignored", name, printable(key)));
    }
  }
  ModuleMetadata::Parts parts;
  parts.name = name;
  const std::string where = fmt::format("{}: func_info", name);
  for (const auto& [symbol, info] : require_object(*functions, where).items()) {
    const std::string place = fmt::format("{}.{}", where, printable(symbol));
    parts.functions.push_back(decode(read_function(symbol, info, place, remarks), remarks));
  }
  return ModuleMetadata(std::move(parts));
}

}  // namespace baton::metadata

namespace baton {

std::string tvm_metadata_json(const ModuleMetadata& module, TagPrefix prefix) {
  // The writer's own version; readers do not look at it.
  constexpr std::string_view kWriterVersion = "0.1.0";
  Json functions = Json::object();
  for (const FunctionMetadata& function : module.functions()) {
    metadata::TvmFunction raw = metadata::encode(function, prefix);
    Json info = {{"name", raw.name},
                 {"arg_types", Json::array()},
                 {metadata::kTags, raw.tags},
                 {"arg_extra_tags", raw.extra_tags}};
    for (const MetadataType& type : raw.types) info["arg_types"].push_back(type.name());
    // Older readers refuse what they do not know: only what needs them has these.
    if (!raw.fields.empty()) info[std::string(metadata::kFields)] = raw.fields;
    for (const auto& [name, value] : raw.kernel_attributes) {
      info[std::string(metadata::kAttributes)][name] = value;
    }
    functions[raw.name] = std::move(info);
  }
  return to_text({{"tvm_version", kWriterVersion}, {"func_info", std::move(functions)}},
                 module.name());
}

}  // namespace baton
