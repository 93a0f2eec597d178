#include "metadata/tags.h"

#include <algorithm>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "metadata/fields.h"

namespace baton::metadata {
namespace {

struct Tag {
  std::string_view name;  // without prefix, where it has one
  std::string_view field;
  bool prefixed = false;  // comes after tir. or tirx.
  bool flag = false;      // has no value
  bool fork = false;      // of tile-ai/tvm, always after tir.
};

constexpr std::string_view kShared = "dynamic_smem_bytes";

// "programtic" is how the format spells it. The first that fits a field is the one that is written.
constexpr Tag kTagRows[] = {
    {"blockIdx.x", "grid.x"},
    {"blockIdx.y", "grid.y"},
    {"blockIdx.z", "grid.z"},
    {"threadIdx.x", "block.x"},
    {"threadIdx.y", "block.y"},
    {"threadIdx.z", "block.z"},
    {"clusterCtaIdx.x", "cluster.x"},
    {"clusterCtaIdx.y", "cluster.y"},
    {"clusterCtaIdx.z", "cluster.z"},
    {"preferredClusterCtaIdx.x", "preferred_cluster.x"},
    {"preferredClusterCtaIdx.y", "preferred_cluster.y"},
    {"preferredClusterCtaIdx.z", "preferred_cluster.z"},
    {"use_dyn_shared_memory", kShared, true},
    {"use_programtic_dependent_launch", kPdlFlag, true, true},
    {"use_cooperative_launch", kCooperativeFlag, true, true},
    {"use_required_block_dimension", kRequiredBlockFlag, true, true},
    {"cluster_dim_x", "cluster.x", true, false, true},
    {"cluster_dim_y", "cluster.y", true, false, true},
    {"cluster_dim_z", "cluster.z", true, false, true},
};

constexpr std::string_view kPrefixes[] = {"tirx.", "tir."};

std::string full_name(const Tag& tag, std::string_view prefix) {
  return tag.prefixed ? std::string(tag.fork ? "tir." : prefix) + std::string(tag.name)
                      : std::string(tag.name);
}

const Tag* find_tag(std::string_view text) {
  for (const std::string_view prefix : kPrefixes) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view name = text.substr(prefix.size());
    for (const Tag& tag : kTagRows) {
      if (tag.prefixed && tag.name == name) return &tag;
    }
    return nullptr;
  }
  for (const Tag& tag : kTagRows) {
    if (!tag.prefixed && tag.name == text) return &tag;
  }
  return nullptr;
}

[[noreturn]] void refuse_tag(const std::string& text, const FunctionMetadata::Parts& parts) {
  if (text.starts_with("vthread") || text == "cthread") {
    throw error(ErrorCode::kInvalidInput,
                "function {}: the tag \"{}\" names a virtual thread, which no launch has",
                parts.symbol, printable(text));
  }
  std::vector<std::string> known;
  for (const Tag& tag : kTagRows) known.push_back(full_name(tag, "tirx."));
  throw error(ErrorCode::kInvalidInput, "function {}: the launch-parameter tag \"{}\" is unknown{}",
              parts.symbol, printable(text), suggestion(text, known));
}

const Tag* tag_of(std::string_view field) {
  const auto* found = std::find_if(std::begin(kTagRows), std::end(kTagRows),
                                   [&](const Tag& tag) { return tag.field == field; });
  return found == std::end(kTagRows) ? nullptr : found;
}

}  // namespace

void decode_tags(std::span<const std::string> tags, FunctionMetadata::Parts& parts) {
  parts.rules = OperandRules::kTags;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    const Tag* tag = find_tag(tags[i]);
    if (tag == nullptr) refuse_tag(tags[i], parts);
    if (tag->field == kShared && i + 1 != tags.size()) {
      throw error(ErrorCode::kInvalidInput,
                  "function {}: the tag \"{}\" is number {} of {}, it must be the last",
                  parts.symbol, tags[i], i + 1, tags.size());
    }
    if (tag->fork) parts.rules = OperandRules::kForkTags;
    (tag->flag ? parts.flags : parts.operands).emplace_back(tag->field);
  }
}

bool has_tags(const FunctionMetadata& function) {
  const auto operands = function.operands();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tag* tag = tag_of(operands[i]);
    if (tag == nullptr || tag->flag) return false;
    if (operands[i] == kShared && i + 1 != operands.size()) return false;
  }
  return true;
}

std::vector<std::string> encode_tags(const FunctionMetadata& function, TagPrefix prefix) {
  const std::string_view text = prefix == TagPrefix::kTir ? "tir." : "tirx.";
  const bool fork = function.rules() == OperandRules::kForkTags;
  std::vector<std::string> tags;
  const auto add = [&](std::string_view field, bool flag) {
    const Tag* tag = tag_of(field);
    if (tag == nullptr || tag->flag != flag) {
      throw error(
          ErrorCode::kInvalidInput,
          "function {}: there is no launch-parameter tag for a {} \"{}\"; write Baton's own "
          "form, or TVM's JSON",
          function.symbol(), flag ? "constant" : "value", field);
    }
    if (fork) {
      // That fork has its own tags for the cluster.
      for (const Tag& own : kTagRows) {
        if (own.fork && own.field == field) tag = &own;
      }
    }
    tags.push_back(full_name(*tag, text));
  };
  const auto operands = function.operands();
  const bool shared = !operands.empty() && operands.back() == kShared;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == kShared && i + 1 != operands.size()) {
      throw error(ErrorCode::kInvalidInput,
                  "function {}: {} is launch value {} of {}; as a tag it must be the last",
                  function.symbol(), kShared, i + 1, operands.size());
    }
    if (operands[i] != kShared) add(operands[i], false);
  }
  for (const std::string_view flag : function.flags()) add(flag, true);
  if (shared) add(kShared, false);
  return tags;
}

}  // namespace baton::metadata
