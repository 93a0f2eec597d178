#pragma once

#include "baton/program.h"
#include "program/reader/table_reader.h"

namespace baton {

class ProgramScope;
class TomlTable;

// The epilogue of an all_reduce: the keys `add` and `rms_norm` of its table. The rest of the step
// is in collective.cc.

inline bool has_epilogue(const CollectiveStep& step) {
  return step.add || step.rms_norm;
}
void read_epilogue(const TableReader& table, CollectiveStep& step);
// Throws kInvalidInput or kNotFound. `buffer`: the step's own.
void check_epilogue(const CollectiveStep& step, const ProgramBuffer& buffer, ProgramScope& scope);
bool equal_epilogues(const CollectiveStep& a, const CollectiveStep& b);
void write_epilogue(const CollectiveStep& step, TomlTable& inner);

}  // namespace baton
