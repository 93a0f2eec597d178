#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "baton/tune.h"
#include "tune/subject.h"

namespace baton::tuning {

// Tuned records are files beside the compile cache, one for each program, device and set of sizes.
// A later record takes the place of an earlier one.

// Whether BATON_TUNE in the environment switches records off. Throws kInvalidInput for a value that
// it does not take.
bool is_switched_off();

// The parts of a record that say what it is for. `images` is left empty: it takes a compile. Throws
// what binding throws for the symbols.
TuneRecord identity_of(const Subject& subject, const Bindings& bindings);

// Writes a record, and returns its file; empty where there is no cache or it cannot be written,
// which is logged.
std::filesystem::path keep(const TuneRecord& record);

// The record for the same program, device and sizes; nothing where there is none, or only one that
// cannot be read or is of another driver, which is logged. One that was kept here comes before one
// of the bundle, which may be null.
std::optional<TuneRecord> find(const TuneRecord& identity, const Bundle* bundle);

}  // namespace baton::tuning
