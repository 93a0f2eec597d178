#include "metadata/canonical.h"

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"

namespace baton::metadata {

std::string parameter_text(const FunctionMetadata::Parameter& parameter) {
  return parameter.tensor_map ? std::string(kTensorMapType) : parameter.type.name();
}

FunctionMetadata::Parameter parse_parameter(std::string_view text, const std::string& where) {
  if (text == kTensorMapType) return {MetadataType{}, true};
  const auto type = MetadataType::parse(text);
  if (!type) {
    throw error(
        ErrorCode::kInvalidInput,
        "{} is \"{}\", which is not a type of a kernel parameter: tensor_map, handle, bool, "
        "intN, uintN, floatN, bfloat16, float8_*, with the suffix xL for L lanes",
        where, printable(text));
  }
  return {*type, false};
}

OperandRules parse_rules(std::string_view text, const std::string& where) {
  constexpr OperandRules kAll[] = {OperandRules::kStrict, OperandRules::kTags,
                                   OperandRules::kForkTags};
  std::vector<std::string> known;
  for (const OperandRules rules : kAll) {
    if (to_string(rules) == text) return rules;
    known.emplace_back(to_string(rules));
  }
  throw error(ErrorCode::kInvalidInput, "{} is \"{}\", which is unknown{}", where, printable(text),
              suggestion(text, known));
}

void check_version(std::int64_t version, const std::string& name) {
  if (version < 1 || version > kCanonicalVersion) {
    throw error(
        ErrorCode::kInvalidInput,
        "{} is metadata of version {}, this Baton reads versions up to {}; write it again, or "
        "use a newer Baton",
        name, version, kCanonicalVersion);
  }
}

}  // namespace baton::metadata
