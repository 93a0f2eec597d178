#pragma once

#include <array>
#include <string>

#include "kernel_writer.h"

namespace baton::verdicts {

// Writes kernels that take addresses apart and put them together again. They are launched with x,
// the weight w, the table t and y, with 0 for the number, and with one warp or two. Not
// thread-safe.
class AddressHider : public KernelWriter {
 public:
  using KernelWriter::KernelWriter;

  // Leaves the address `goal` in the register that it returns.
  std::string launder(const std::string& goal);

  // The same by outcomes of instructions, and not only in the ways of the first one.
  std::string launder_by_outcomes(const std::string& goal);

  // Accesses an element of the thread there.
  void access(const std::string& at, bool may_write);

 private:
  std::string made(std::string_view operation, const std::string& operands) {
    std::string to = wide();
    line("{} {}, {};", operation, to, operands);
    return to;
  }
  template <typename... Parts>
  std::string make(std::string_view operation, fmt::format_string<Parts...> text,
                   Parts&&... parts) {
    return made(operation, fmt::format(text, std::forward<Parts>(parts)...));
  }

  // Something that is mixed in: another address, a number, or what was loaded.
  std::string other();
  // An address that differs from what is held by less than 2^40.
  std::string other_address();

  // The address, or something else that is not taken.
  std::string choose(const std::string& held);

  using Halves = std::array<std::string, 2>;
  Halves split(const std::string& held);
  std::string join(const Halves& halves);

  std::string hide(const std::string& held);

  // Of any 64 bits.
  std::string hide_any(const std::string& held);

  std::string by_arithmetic(const std::string& held);

  std::string by_halves(const std::string& held);

  // Through memory of the thread, the block or the grid.
  std::string by_memory(const std::string& held);

  std::string by_logic(const std::string& held);

  // Through other lanes.
  std::string by_lanes(const std::string& held);

  // By what is selected, or where a branch goes.
  std::string by_conditions(const std::string& held);

  // Bit by bit: each one decides a selection, a branch, a place in a table, a store or a vote.
  std::string by_bits(const std::string& held);

  // A loop that runs as often as the distance of two addresses tells.
  std::string by_counting(const std::string& held);

  std::string by_calls(const std::string& held);

  // By carries, sums that are cut off, the greater one of two, and lanes.
  std::string by_outcomes(const std::string& held);
  std::string by_wide_outcomes(const std::string& held);
  std::string by_narrow_outcomes(const std::string& held);
  std::string by_alignment(const std::string& held);
};

}  // namespace baton::verdicts
