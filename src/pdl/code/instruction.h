#pragma once

// What single PTX instructions do, as far as memory and the order of threads are concerned: the
// table of instructions (ptx/isa.h), applied to operands and modifiers.

#include <optional>
#include <string_view>

#include "pdl/code/code.h"
#include "ptx/isa.h"

namespace baton::overlap {

struct Shape {
  Operation::Kind kind = Operation::Kind::kCompute;
  Operation::Space space = Operation::Space::kGeneric;
  int address = -1;     // the operand that is the address in question, or none
  bool defines = true;  // the first operand is a destination
  bool non_coherent = false;
  bool strong = false;  // as in Operation
  bool prefetches = false;
  bool orders = false;    // threads may order each other's accesses by it
  bool meets = false;     // as in Operation
  bool disturbs = false;  // may take part in barrier 0 for some threads only
  Exchange exchange = Exchange::kNone;
  std::uint8_t width = 0;  // in bits: of a loaded or stored element, of a computed value
};

// `form` is the instruction's row of the table. An instruction without one that has an address
// among its operands is taken for one that reads and writes there.
Shape shape_of(const ptx::Instruction& instruction, const ptx::Form* form);

// The carry flag: an operand and a result of extended-precision arithmetic that no operand names
// (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").
bool reads_carry(const ptx::Instruction& instruction);
bool writes_carry(const ptx::Instruction& instruction);

std::optional<SpecialRegister> special_register(std::string_view name);

}  // namespace baton::overlap
