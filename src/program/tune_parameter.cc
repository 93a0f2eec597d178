#include "program/tune_parameter.h"

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/expression/scope.h"
#include "program/rank_groups.h"
#include "program/reader/table_reader.h"
#include "program/writer/toml_table.h"

namespace baton {
namespace {

// Whether the symbol is the number of a rank, in the world or in a group.
bool is_number_of_rank(const ProgramDefinition& program, const std::string& name) {
  if (!program.world) return false;
  const auto is_of = [&](const WorldGroup& group) { return name == rank_symbol(group.name); };
  return name == rank_symbol({}) || std::ranges::any_of(program.world->groups, is_of);
}

}  // namespace

bool operator==(const TuneParameter& a, const TuneParameter& b) {
  return std::tie(a.symbol, a.values) == std::tie(b.symbol, b.values);
}

std::vector<TuneParameter> read_tune_parameters(const Document& document,
                                                const DocumentNode& node) {
  std::vector<TuneParameter> parameters;
  const DocumentNode& section = require_table(document, node, "tune");
  // Every key is the name of a symbol, which a later check judges.
  std::vector<std::string_view> keys;
  for (const DocumentNode::Member& member : section.members) keys.push_back(member.key);
  const TableReader table(document, section, "tune", keys);
  for (const DocumentNode::Member& member : section.members) {
    parameters.push_back({member.key, table.expressions(member.key, 1, kMaxTuneValues, "values"),
                          document.place(member)});
  }
  return parameters;
}

std::string toml_tune_parameters(const std::vector<TuneParameter>& parameters) {
  TomlTable table;
  for (const TuneParameter& parameter : parameters) {
    table.add(parameter.symbol, toml_expressions(parameter.values));
  }
  return table.as_lines();
}

void check_tune_parameters(const std::vector<TuneParameter>& parameters,
                           const ProgramDefinition& program, const ProgramScope& scope) {
  const auto is_parameter = [&](const std::string& name) {
    return std::ranges::find(parameters, name, &TuneParameter::symbol) != parameters.end();
  };
  for (const TuneParameter& parameter : parameters) {
    const std::string& name = parameter.symbol;
    if (std::ranges::find(program.symbols, name, &ProgramSymbol::name) == program.symbols.end()) {
      std::vector<std::string_view> known;
      for (const ProgramSymbol& symbol : program.symbols) known.push_back(symbol.name);
      throw error_at(parameter.where, ErrorCode::kNotFound,
                     "tune names the unknown symbol \"{}\"{}", printable(name),
                     suggestion(name, known));
    }
    if (std::ranges::count(parameters, name, &TuneParameter::symbol) > 1) {
      throw error_at(parameter.where, ErrorCode::kInvalidInput,
                     "tune names the symbol {} twice; keep one of them", name);
    }
    if (parameter.values.empty() || parameter.values.size() > kMaxTuneValues) {
      throw error_at(parameter.where, ErrorCode::kInvalidInput,
                     "tune gives the symbol {} {} values, it takes 1 to {}", name,
                     parameter.values.size(), kMaxTuneValues);
    }
    for (const Expression& value : parameter.values) {
      scope.check_names(*value.code());
      for (const std::string& used : value.names()) {
        if (is_number_of_rank(program, used)) {
          throw error_at(value.where(), ErrorCode::kInvalidInput,
                         "the value \"{}\" of {} depends on {}, which differs between ranks; all "
                         "ranks try the same values, so write it without",
                         value.text(), name, used);
        }
        if (!is_parameter(used)) continue;
        throw error_at(value.where(), ErrorCode::kInvalidInput,
                       "the value \"{}\" of {} depends on {}, which is tuned too; write numbers, "
                       "and what must hold between the two under [require]",
                       value.text(), name, used);
      }
    }
  }
}

}  // namespace baton
