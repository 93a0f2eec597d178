#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ast.h"
#include "sim/engine/isa/spec.h"

namespace baton::sim {

// An instruction, or a form of one, that the engine cannot execute. Caught where an instruction is
// decoded: it becomes one that faults when it is executed.
struct Unsupported {
  std::string reason;
};

std::optional<Type> parse_type(std::string_view name);
// Of a value: 1 for predicates, 8 … 128.
unsigned bits_of(Type type);
bool is_float_type(Type type);  // f32, f64
bool is_half_type(Type type);   // f16, bf16, packed or not
bool is_signed_type(Type type);
// The type twice as wide, for mul.wide.
Type widened(Type type);

// The modifiers of one instruction, taken one by one as they are understood. Whatever is left in
// the end is something that the engine does not know and must not ignore.
class Modifiers {
 public:
  explicit Modifiers(const ptx::Instruction& instruction);

  bool take(std::string_view name);
  // The first of the names that is there, by its position in the list, or nothing.
  std::optional<std::size_t> take_one_of(std::initializer_list<std::string_view> names);
  // The next type in the order written.
  std::optional<Type> take_type();
  Type need_type();
  Rounding take_rounding();
  MemoryScope take_scope();  // the device's where there is none
  // Drops what only hints at performance or at memory order that sequential consistency covers.
  void drop_hints();
  void finish() const;  // throws Unsupported where something is left

 private:
  const ptx::Instruction& instruction_;
  std::vector<std::string_view> left_;
};

}  // namespace baton::sim
