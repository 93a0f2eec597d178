#include "instructions/suite.h"

namespace baton::instructions {

Case& Group::add_rows(std::string text, std::vector<Kind> inputs, std::vector<Result> results,
                      unsigned rows, Reference reference) {
  Case& added = cases_.emplace_back();
  added.text = std::move(text);
  for (const Kind kind : inputs) added.rows.operands.push_back(values_of(kind));
  added.rows.uniform.assign(inputs.size(), false);
  added.rows.group = rows;
  // A lone narrow operand is tried with every value it can have.
  if (rows == 1 && inputs.size() == 1 && info(inputs[0]).bits <= 16 && inputs[0] != Kind::kPred) {
    added.rows.operands[0] = range(0, (s64{1} << info(inputs[0]).bits) - 1);
  }
  added.inputs = std::move(inputs);
  added.results = std::move(results);
  added.reference = std::move(reference);
  return added;
}

const std::deque<Family>& all_families() {
  static const std::deque<Family> families = [] {
    std::deque<Family> all;
    for (const auto add :
         {add_integer, add_carry, add_bits, add_compare, add_float, add_approximate, add_half,
          add_convert, add_move, add_memory, add_atomic, add_wide, add_warp, add_asynchronous,
          add_block, add_special, add_control}) {
      add(all);
    }
    return all;
  }();
  return families;
}

}  // namespace baton::instructions
