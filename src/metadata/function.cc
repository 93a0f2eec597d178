#include <algorithm>
#include <array>
#include <tuple>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "baton/metadata.h"
#include "metadata/fields.h"

namespace baton {
namespace {

// Of the launch layer that TVM generates; others are kept as they are.
constexpr std::string_view kRuleNames[] = {"strict", "tags", "fork_tags"};

// As the assembler takes them, mangled names included.
bool is_symbol(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\\';
  });
}

// Adds the constant of that name to `list`, which has each but once.
void add(std::vector<std::string_view>& list, std::string_view name, const std::string& symbol) {
  if (std::find(list.begin(), list.end(), name) != list.end()) {
    throw error(ErrorCode::kInvalidInput, "function {}: {} is given twice", symbol, name);
  }
  list.push_back(name);
}

}  // namespace

std::string_view to_string(OperandRules rules) noexcept {
  return kRuleNames[static_cast<std::size_t>(rules)];
}

FunctionMetadata::FunctionMetadata(Parts parts)
    : symbol_(std::move(parts.symbol)),
      parameters_(std::move(parts.parameters)),
      rules_(parts.rules),
      kernel_attributes_(std::move(parts.kernel_attributes)) {
  if (!is_symbol(symbol_)) {
    throw error(ErrorCode::kInvalidInput, "a function is called \"{}\", no kernel can be",
                printable(symbol_));
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    if (parameter.tensor_map && parameter.type != MetadataType{}) {
      throw error(ErrorCode::kInvalidInput,
                  "function {}: parameter {} is a tensor map of type {}; it must be a handle",
                  symbol_, i, parameter.type.name());
    }
  }
  for (const std::string& name : parts.operands) {
    const metadata::Field* field = metadata::find_field(name);
    if (field == nullptr) {
      const auto known = metadata::field_names();
      throw error(ErrorCode::kInvalidInput, "function {}: the launch field \"{}\" is unknown{}",
                  symbol_, printable(name), suggestion(name, known));
    }
    add(operands_, field->name, symbol_);
  }
  // Without values there is nothing that rules could say.
  if (operands_.empty()) rules_ = OperandRules::kStrict;
  for (const std::string& name : parts.flags) {
    const auto* flag = std::find(std::begin(metadata::kFlags), std::end(metadata::kFlags), name);
    if (flag == std::end(metadata::kFlags)) {
      throw error(ErrorCode::kInvalidInput, "function {}: the flag \"{}\" is unknown{}", symbol_,
                  printable(name), suggestion(name, metadata::kFlags));
    }
    if (std::find(operands_.begin(), operands_.end(), *flag) != operands_.end()) {
      throw error(ErrorCode::kInvalidInput,
                  "function {}: {} is both a flag and a value of the call", symbol_, *flag);
    }
    add(flags_, *flag, symbol_);
  }
  // Their order says nothing.
  std::sort(flags_.begin(), flags_.end());
}

bool FunctionMetadata::names(std::string_view field) const {
  return std::find(operands_.begin(), operands_.end(), field) != operands_.end() ||
         std::find(flags_.begin(), flags_.end(), field) != flags_.end();
}

bool operator==(const FunctionMetadata& a, const FunctionMetadata& b) {
  const auto parts = [](const FunctionMetadata& function) {
    return std::tie(function.symbol_, function.parameters_, function.operands_, function.flags_,
                    function.rules_, function.kernel_attributes_);
  };
  return parts(a) == parts(b);
}

bool FunctionMetadata::pdl() const {
  return names(metadata::kPdlFlag);
}

bool FunctionMetadata::cooperative() const {
  return names(metadata::kCooperativeFlag);
}

bool FunctionMetadata::cluster() const {
  return names("cluster.x") || names("cluster.y") || names("cluster.z");
}

}  // namespace baton
