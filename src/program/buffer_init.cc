#include "program/buffer_init.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/array/float_convert.h"
#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/names.h"
#include "program/scalar.h"
#include "program/writer/toml_table.h"

namespace baton {
namespace {

using Kind = DocumentNode::Kind;

// "none" is what leaving `init` out means, and a file has a key of its own.
constexpr std::span<const std::string_view> kInitChoices(kInitNames.data() + 1, 4);
constexpr std::array<std::string_view, 2> kDistributions = {
    kInitNames[static_cast<std::size_t>(BufferInit::kNormal)],
    kInitNames[static_cast<std::size_t>(BufferInit::kUniform)]};

// A normal value is a sum of twelve uniform ones, which ends there.
constexpr double kNormalReach = 6;
// Up to here each integer is a double.
constexpr double kMostExact = 0x1p53;

void read_distribution(const TableReader& buffer_table, const DocumentNode& node,
                       ProgramBuffer& buffer) {
  const TableReader table(buffer_table.document(), node, "init of " + buffer_table.what(),
                          kDistributions);
  if (node.members.size() != 1) {
    throw error_at(table.place(), ErrorCode::kInvalidInput,
                   "{} has {} distributions; write one: {{ normal = 0.02 }} or {{ uniform = [-1, "
                   "1] }}",
                   table.what(), node.members.size());
  }
  if (const DocumentNode* normal = table.find("normal")) {
    buffer.init = BufferInit::kNormal;
    buffer.deviation = table.number_of(*normal, "normal");
    return;
  }
  const DocumentNode& uniform = table.require("uniform");
  if (uniform.kind != Kind::kArray || uniform.items.size() != 2) {
    throw error_at(table.document().place(uniform), ErrorCode::kInvalidInput,
                   "uniform of {} must be an array of two numbers, as [-1, 1]", table.what());
  }
  buffer.init = BufferInit::kUniform;
  buffer.low = table.number_of(uniform.items[0], "uniform");
  buffer.high = table.number_of(uniform.items[1], "uniform");
}

template <typename... Args>
[[noreturn]] void refuse_init(const ProgramBuffer& buffer, fmt::format_string<Args...> format,
                              Args&&... args) {
  throw error_at(buffer.where, ErrorCode::kInvalidInput, "init of buffer {}: {}", buffer.name,
                 fmt::format(format, std::forward<Args>(args)...));
}

void require_range(const ProgramBuffer& buffer, double value) {
  if (encode_in_range(buffer.dtype, value)) return;
  refuse_init(buffer, "{} holds no {}; choose smaller numbers", to_string(buffer.dtype), value);
}

void check_normal(const ProgramBuffer& buffer) {
  if (!is_float(buffer.dtype)) {
    refuse_init(buffer, "normal makes fractions, and the dtype is {}; write uniform = [a, b]",
                to_string(buffer.dtype));
  }
  if (!std::isfinite(buffer.deviation) || buffer.deviation <= 0) {
    refuse_init(buffer, "the standard deviation is {}; it must be above 0 and finite",
                buffer.deviation);
  }
  require_range(buffer, kNormalReach * buffer.deviation);
}

void check_uniform(const ProgramBuffer& buffer) {
  const auto [low, high] = std::pair(buffer.low, buffer.high);
  if (is_float(buffer.dtype)) {
    if (!std::isfinite(low) || !std::isfinite(high - low) || low >= high) {
      refuse_init(buffer, "uniform from {} to {} has no values; the first must be less", low, high);
    }
    require_range(buffer, low);
    require_range(buffer, high);
    return;
  }
  for (const double bound : {low, high}) {
    if (encode_exact(buffer.dtype, bound) && std::abs(bound) <= kMostExact) continue;
    refuse_init(buffer, "{} does not hold {}; uniform takes integers of the dtype, up to 2^53",
                to_string(buffer.dtype), bound);
  }
  if (low > high) {
    refuse_init(buffer, "uniform from {} to {} has no values; the first must not be greater", low,
                high);
  }
}

}  // namespace

void read_init(const TableReader& table, ProgramBuffer& buffer) {
  const DocumentNode* node = table.find("init");
  if (node == nullptr) return;
  if (node->kind == Kind::kTable) return read_distribution(table, *node, buffer);
  if (node->kind == Kind::kString) {
    for (const std::string_view name : kDistributions) {
      if (node->string != name) continue;
      throw error_at(table.document().place(*node), ErrorCode::kInvalidInput,
                     "init = \"{}\" of {} lacks its numbers; write init = {}", name, table.what(),
                     name == "normal" ? "{ normal = 0.02 }" : "{ uniform = [-1, 1] }");
    }
  }
  if (node->kind != Kind::kString) {
    table.refuse(*node, "init",
                 "a word such as \"random\" or a table such as { normal = 0.02 }; contents of its "
                 "own come from file");
  }
  buffer.init = static_cast<BufferInit>(*table.choice("init", kInitChoices) + 1);
}

void check_init(const ProgramBuffer& buffer) {
  if (buffer.init == BufferInit::kNormal) return check_normal(buffer);
  if (buffer.init == BufferInit::kUniform) return check_uniform(buffer);
}

void write_init(const ProgramBuffer& buffer, TomlTable& table) {
  if (buffer.init == BufferInit::kNone || buffer.init == BufferInit::kFile) return;
  TomlTable distribution;
  if (buffer.init == BufferInit::kNormal) {
    distribution.add("normal", toml_float(buffer.deviation));
  } else if (buffer.init == BufferInit::kUniform) {
    distribution.add("uniform",
                     fmt::format("[{}, {}]", toml_float(buffer.low), toml_float(buffer.high)));
  }
  table.add("init",
            distribution.empty() ? toml_string(to_string(buffer.init)) : distribution.as_value());
}

}  // namespace baton
