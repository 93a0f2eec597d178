#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/metadata.h"

namespace baton::metadata {

// TVM's ArgExtraTags.
inline constexpr std::int64_t kNoTag = 0;
inline constexpr std::int64_t kTensorMapTag = 1;

// What TVM knows of one function, in every generation: JSON and binary are two spellings of it.
struct TvmFunction {
  std::string name;
  std::vector<MetadataType> types;
  std::vector<std::string> tags;
  std::vector<std::int64_t> extra_tags;  // may be shorter than `types`, or empty
  std::vector<std::string> fields;       // launch fields: instead of tags
  std::vector<std::pair<std::string, std::int64_t>> kernel_attributes;
  std::optional<bool> pdl;  // a draft's own flag
};

// Throws kInvalidInput, naming the function, for what makes no sense; `remarks` gets what is merely
// odd.
FunctionMetadata decode(TvmFunction raw, std::vector<std::string>& remarks);
// Throws kInvalidInput where TVM's form has no place for something.
TvmFunction encode(const FunctionMetadata& function, TagPrefix prefix);

}  // namespace baton::metadata
