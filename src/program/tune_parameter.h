#pragma once

#include <string>
#include <vector>

#include "baton/program.h"
#include "program/reader/document.h"

namespace baton {

class ProgramScope;

// The most values that tuning may give to one symbol.
inline constexpr std::size_t kMaxTuneValues = 64;

// The table `tune` of a program file: SYMBOL = [values]. Throws kInvalidInput at the place of what
// is wrong.
std::vector<TuneParameter> read_tune_parameters(const Document& document, const DocumentNode& node);

// The lines below [tune] that read as equal parameters.
std::string toml_tune_parameters(const std::vector<TuneParameter>& parameters);

// Throws kNotFound for an unknown symbol, and kInvalidInput for one that is named twice and for
// values that are none, too many, or depend on another parameter.
void check_tune_parameters(const std::vector<TuneParameter>& parameters,
                           const ProgramDefinition& program, const ProgramScope& scope);

}  // namespace baton
