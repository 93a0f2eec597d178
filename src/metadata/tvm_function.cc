#include "metadata/tvm_function.h"

#include <algorithm>

#include "base/error.h"
#include "metadata/fields.h"
#include "metadata/remarks.h"
#include "metadata/tags.h"

namespace baton::metadata {
namespace {

// Of the launch layer that TVM generates for CUDA.
constexpr std::string_view kKernelAttributes[] = {
    "min_blocks_per_sm",   "max_blocks_per_cluster", "max_registers_per_thread",
    "required_block_size", "required_block_x",       "required_block_y",
    "required_block_z",    "required_cluster_x",     "required_cluster_y",
    "required_cluster_z"};

bool is_known_attribute(const std::string& name) {
  return std::find(std::begin(kKernelAttributes), std::end(kKernelAttributes), name) !=
         std::end(kKernelAttributes);
}

void decode_pdl(const TvmFunction& raw, FunctionMetadata::Parts& parts) {
  if (!raw.pdl) return;
  auto& flags = parts.flags;
  const bool tagged = std::find(flags.begin(), flags.end(), kPdlFlag) != flags.end();
  if (tagged && !*raw.pdl) {
    throw error(ErrorCode::kInvalidInput,
                "function {}: has_programmatic_dependent_launch is false, and a launch-parameter "
                "tag says the opposite",
                parts.symbol);
  }
  if (*raw.pdl && !tagged) flags.emplace_back(kPdlFlag);
}

}  // namespace

FunctionMetadata decode(TvmFunction raw, std::vector<std::string>& remarks) {
  FunctionMetadata::Parts parts;
  parts.symbol = std::move(raw.name);
  if (raw.extra_tags.size() > raw.types.size()) {
    throw error(ErrorCode::kInvalidInput, "function {} has {} argument tags for {} arguments",
                parts.symbol, raw.extra_tags.size(), raw.types.size());
  }
  for (std::size_t i = 0; i < raw.types.size(); ++i) {
    const std::int64_t tag = i < raw.extra_tags.size() ? raw.extra_tags[i] : kNoTag;
    if (tag != kNoTag && tag != kTensorMapTag) {
      throw error(
          ErrorCode::kInvalidInput,
          "function {}: argument {} has the tag {}; known are {} (none) and {} (tensor map)",
          parts.symbol, i, tag, kNoTag, kTensorMapTag);
    }
    parts.parameters.push_back({raw.types[i], tag == kTensorMapTag});
  }
  if (!raw.fields.empty() && !raw.tags.empty()) {
    throw error(ErrorCode::kInvalidInput,
                "function {} has both launch fields and launch-parameter tags; it must have one of "
                "them",
                parts.symbol);
  }
  if (raw.fields.empty()) {
    decode_tags(raw.tags, parts);
  } else {
    parts.operands = std::move(raw.fields);
  }
  decode_pdl(raw, parts);
  for (auto& [name, value] : raw.kernel_attributes) {
    if (!is_known_attribute(name)) {
      remark(remarks, fmt::format("function {}: the kernel attribute {} is unknown, it is kept",
                                  parts.symbol, name));
    }
    if (!parts.kernel_attributes.try_emplace(std::move(name), value).second) {
      throw error(ErrorCode::kInvalidInput, "function {}: a kernel attribute is given twice",
                  parts.symbol);
    }
  }
  return FunctionMetadata(std::move(parts));
}

TvmFunction encode(const FunctionMetadata& function, TagPrefix prefix) {
  TvmFunction raw;
  raw.name = function.symbol();
  for (const auto& parameter : function.parameters()) {
    raw.types.push_back(parameter.type);
    raw.extra_tags.push_back(parameter.tensor_map ? kTensorMapTag : kNoTag);
  }
  // A reader knows that fork by its tags of clusters alone.
  if (function.rules() == OperandRules::kForkTags && !function.cluster()) {
    throw error(ErrorCode::kInvalidInput,
                "function {}: TVM's form has no place for the rules {} without a cluster",
                function.symbol(), to_string(function.rules()));
  }
  if (function.rules() != OperandRules::kStrict || function.operands().empty()) {
    raw.tags = encode_tags(function, prefix);
  } else {
    if (!function.flags().empty()) {
      throw error(
          ErrorCode::kInvalidInput,
          "function {}: TVM's launch fields are values of the call, the constant {} is none",
          function.symbol(), function.flags().front());
    }
    raw.fields.assign(function.operands().begin(), function.operands().end());
  }
  raw.kernel_attributes.assign(function.kernel_attributes().begin(),
                               function.kernel_attributes().end());
  return raw;
}

}  // namespace baton::metadata
