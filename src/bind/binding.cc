#include "bind/binding.h"

#include <algorithm>
#include <optional>

#include "base/array/array.h"
#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "driver/driver.h"
#include "program/buffer_roles.h"
#include "program/expression/expression_code.h"
#include "program/rank_groups.h"
#include "runtime/context.h"

namespace baton::bind {
namespace {

using BoundSymbol = BoundSymbol;

// No device has more than 2^48 bytes to address.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 48;

// Messages put this before the name of a buffer whose contents the caller gives.
constexpr std::string_view kInput = "the input";

template <typename Part>
std::vector<std::string_view> names_of(const std::vector<Part>& parts) {
  std::vector<std::string_view> names;
  for (const Part& part : parts) names.push_back(part.name);
  return names;
}

// What a caller gives for a buffer, whose shape may decide symbols.
struct GivenArray {
  std::string_view what;  // before its name in messages
  const std::string& name;
  DType dtype;
  const std::vector<std::int64_t>& shape;
  bool is_input;
};

class SymbolBinder {
 public:
  SymbolBinder(const Program& program, const Bindings& bindings)
      : program_(program),
        bindings_(bindings),
        place_(place_in_world(program, bindings)),
        known_(program.symbols().size()) {
    for (const auto& [name, array] : bindings.inputs) {
      given_.push_back({kInput, name, array.dtype, array.shape, true});
    }
    for (const auto& [name, array] : bindings.memory) {
      given_.push_back({"the memory for", name, array.dtype, array.shape, false});
    }
  }

  std::vector<BoundSymbol> bind() {
    set_world();
    for (const auto& [name, value] : bindings_.symbols) set(name, value);
    set_groups();
    for (const GivenArray& array : given_) check_array(array);
    for (const auto& [name, array] : bindings_.inputs) {
      check_role(*program_.buffer(name));
      check_bytes(array, fmt::format("{} {}: the array", kInput, printable(name)));
    }
    for (const auto& [name, array] : bindings_.memory) check_own(*program_.buffer(name));
    while (solve_one()) {
    }
    std::vector<BoundSymbol> result;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      const ProgramSymbol& symbol = program_.symbols()[i];
      result.push_back(known_[i].value_or(BoundSymbol{symbol.name, symbol.value, kProgramSource}));
    }
    for (const GivenArray& array : given_) check_shape(array, result);
    return result;
  }

 private:
  std::size_t symbol_index(const std::string& name) const {
    const auto& symbols = program_.symbols();
    const auto found =
        std::find_if(symbols.begin(), symbols.end(),
                     [&](const ProgramSymbol& symbol) { return symbol.name == name; });
    return static_cast<std::size_t>(found - symbols.begin());
  }

  void set_world() {
    if (!program_.world()) return;
    set_of_world(rank_symbol({}), place_.rank);
    set_of_world(ranks_symbol({}), place_.ranks);
  }

  void set_of_world(const std::string& name, std::int64_t value) {
    known_[symbol_index(name)] = BoundSymbol{name, value, kWorldSource};
  }

  // Symbols that a size depends on keep the values that they have before shapes are known.
  void set_groups() {
    if (!program_.world()) return;
    const auto value = [&](const std::string& name) {
      const std::size_t index = symbol_index(name);
      const ProgramSymbol& symbol = program_.symbols()[index];
      if (!known_[index]) known_[index] = BoundSymbol{name, symbol.value, kProgramSource};
      return known_[index]->value;
    };
    for (const PlacedGroup& group : place_in_groups(*program_.world(), place_, value)) {
      set_of_world(rank_symbol(group.name), group.rank);
      set_of_world(ranks_symbol(group.name), group.ranks);
    }
  }

  void set(const std::string& name, std::int64_t value) {
    const std::size_t index = symbol_index(name);
    if (index < known_.size() && program_.symbols()[index].of_world) {
      throw error(ErrorCode::kInvalidInput, "the world sets the symbol {}{}; give it no value",
                  name,
                  known_[index] ? fmt::format(", which is {} here", known_[index]->value) : "");
    }
    if (index == known_.size()) {
      throw error(ErrorCode::kNotFound, "the program {} has no symbol \"{}\"{}",
                  printable(program_.name()), printable(name),
                  suggestion(name, names_of(program_.symbols())));
    }
    if (known_[index] && known_[index]->value != value) {
      throw error(ErrorCode::kInvalidInput,
                  "the symbol {} is given two values, {} and {}; keep one", name,
                  known_[index]->value, value);
    }
    known_[index] = BoundSymbol{name, value, kCallSource};
  }

  void check_array(const GivenArray& array) const {
    const ProgramBuffer* buffer = program_.buffer(array.name);
    if (buffer == nullptr) {
      throw error(ErrorCode::kNotFound, "{} {}: the program {} has no buffer of that name{}",
                  array.what, printable(array.name), printable(program_.name()),
                  suggestion(array.name, names_of(program_.buffers())));
    }
    if (array.dtype != buffer->dtype) {
      throw error_at(buffer->where, ErrorCode::kInvalidInput,
                     "{} {}: the array is {}, the program wants {}", array.what, array.name,
                     to_string(array.dtype), to_string(buffer->dtype));
    }
    if (array.shape.size() != buffer->shape.size()) {
      throw error_at(buffer->where, ErrorCode::kInvalidInput,
                     "{} {}: the array has {} dimensions {}, the program wants {}", array.what,
                     array.name, array.shape.size(), shape_text(array.shape), buffer->shape.size());
    }
    const auto same = [&](const GivenArray& other) { return other.name == array.name; };
    if (std::count_if(given_.begin(), given_.end(), same) > 1) {
      throw error(ErrorCode::kInvalidInput, "{} {} is given twice", array.what, array.name);
    }
  }

  static void check_role(const ProgramBuffer& buffer) {
    if (facts_of(buffer.role).takes_input) return;
    throw error_at(buffer.where, ErrorCode::kInvalidInput,
                   "{} {}: the buffer has the role {}, an input serves {} buffers", kInput,
                   buffer.name, to_string(buffer.role), names_of_roles(&RoleFacts::takes_input));
  }

  static void check_own(const ProgramBuffer& buffer) {
    if (!buffer.variable) return;
    throw error_at(
        buffer.where, ErrorCode::kInvalidInput,
        "the memory for {}: the buffer is the variable {} of kernel {}, which has memory "
        "of its own",
        buffer.name, buffer.variable->name, buffer.variable->kernel);
  }

  // Finds one extent that decides a symbol; false where none is left.
  bool solve_one() {
    for (const GivenArray& array : given_) {
      const ProgramBuffer& buffer = *program_.buffer(array.name);
      for (std::size_t axis = 0; axis < array.shape.size(); ++axis) {
        if (solve(*buffer.shape[axis].code(), part_extent(array, axis), array)) return true;
      }
    }
    return false;
  }

  // The ranks that divide the dimension of the array. A sharded array of the caller is the whole
  // array; memory of the device is one part.
  std::int64_t parts_of(const GivenArray& array, std::size_t axis) const {
    if (!array.is_input) return 1;
    const std::vector<BufferShard>& shards = program_.buffer(array.name)->shards;
    const auto found = std::ranges::find(shards, axis, &BufferShard::axis);
    if (found == shards.end()) return 1;
    return known_[symbol_index(ranks_symbol(found->group))]->value;
  }
  std::int64_t part_extent(const GivenArray& array, std::size_t axis) const {
    const std::int64_t parts = parts_of(array, axis);
    if (array.shape[axis] % parts == 0) return array.shape[axis] / parts;
    const std::vector<BufferShard>& shards = program_.buffer(array.name)->shards;
    const BufferShard& shard = *std::ranges::find(shards, axis, &BufferShard::axis);
    throw error_at(shard.where, ErrorCode::kInvalidInput,
                   "{} {}: dimension {} of the array is {}, which {} ranks{} do not divide",
                   array.what, array.name, axis, array.shape[axis], parts,
                   shard.group.empty() ? "" : " of the group " + shard.group);
  }

  bool solve(const ExpressionCode& code, std::int64_t extent, const GivenArray& array) {
    std::vector<std::int64_t> values;
    std::optional<std::size_t> unknown;
    for (std::size_t i = 0; i < code.names.size(); ++i) {
      const auto& value = known_[symbol_index(code.names[i])];
      if (!value && unknown) return false;
      if (!value) unknown = i;
      values.push_back(value ? value->value : 0);
    }
    if (!unknown) return false;
    const auto solution = solve_for(code, *unknown, values, extent);
    if (!solution) return false;
    const std::string& symbol = code.names[*unknown];
    known_[symbol_index(symbol)] =
        BoundSymbol{symbol, *solution, fmt::format("the shape of {} {}", array.what, array.name)};
    return true;
  }

  void check_shape(const GivenArray& array, const std::vector<BoundSymbol>& symbols) const {
    const ProgramBuffer& buffer = *program_.buffer(array.name);
    const std::vector<std::int64_t> shape = bind_shape(buffer, symbols);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::int64_t extent = part_extent(array, axis);
      if (shape[axis] == extent) continue;
      std::string reasons;
      for (const std::string& symbol : buffer.shape[axis].names()) {
        const BoundSymbol& bound = symbols[symbol_index(symbol)];
        reasons += fmt::format("{}{} = {} from {}", reasons.empty() ? " (" : ", ", symbol,
                               bound.value, bound.source);
      }
      if (!reasons.empty()) reasons += ')';
      throw error_at(
          buffer.shape[axis].where(), ErrorCode::kInvalidInput,
          "{} {}: dimension {} of the array is {}{}, the program's {} is {}{}", array.what,
          array.name, axis, array.shape[axis],
          parts_of(array, axis) == 1 ? std::string() : fmt::format(", {} of each rank", extent),
          buffer.shape[axis].text(), shape[axis], reasons);
    }
  }

  const Program& program_;
  const Bindings& bindings_;
  const WorldPlace place_;
  std::vector<GivenArray> given_;
  std::vector<std::optional<BoundSymbol>> known_;  // in the program's order
};

// Whether the last operation divides by an expression with that name.
bool divides_by(const ExpressionCode& code, std::string_view name) {
  using Op = ExpressionCode::Op;
  const Op last = code.nodes.back().op;
  if (last != Op::kDivide && last != Op::kFloorDiv) return false;
  // Back through the divisor, which is all in front of the operation.
  int missing = 1;
  for (std::size_t i = code.nodes.size() - 1; missing > 0;) {
    const ExpressionCode::Node& node = code.nodes[--i];
    if (node.op == Op::kName && code.names[static_cast<std::size_t>(node.value)] == name) {
      return true;
    }
    missing += arity(node.op) - 1;
  }
  return false;
}

// Refuses "N / ranks" with a remainder: the parts of the shard would lack these elements.
void check_parts(const ProgramBuffer& buffer, std::size_t axis, ExpressionCode code,
                 const std::vector<std::int64_t>& values) {
  for (const BufferShard& shard : buffer.shards) {
    if (shard.axis != axis || !divides_by(code, ranks_symbol(shard.group))) continue;
    code.nodes.back().op = ExpressionCode::Op::kRemainder;
    const std::int64_t left = code.evaluate(values);
    if (left == 0) return;
    throw error_at(
        buffer.shape[axis].where(), ErrorCode::kInvalidInput,
        "dimension {} of buffer {} is {}, which leaves a remainder of {}{}; the parts of "
        "a shard are equal: take another size or another number of ranks",
        axis, buffer.name, buffer.shape[axis].text(), left,
        code.values_in(code.nodes.back(), values));
  }
}

}  // namespace

std::vector<BoundSymbol> bind_symbols(const Program& program, const Bindings& bindings) {
  return SymbolBinder(program, bindings).bind();
}

std::vector<std::int64_t> bind_shape(const ProgramBuffer& buffer,
                                     const std::vector<BoundSymbol>& symbols) {
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = size_of(buffer.dtype);
  for (const Expression& extent : buffer.shape) {
    const ExpressionCode& code = *extent.code();
    std::vector<std::int64_t> values;
    for (const std::string& name : code.names) {
      const auto found = std::find_if(symbols.begin(), symbols.end(),
                                      [&](const BoundSymbol& bound) { return bound.name == name; });
      values.push_back(found->value);
    }
    const std::int64_t value = code.evaluate(values);
    if (value < 0) {
      throw error_at(extent.where(), ErrorCode::kInvalidInput,
                     "dimension {} of buffer {} is {}: {} is negative{}", shape.size(), buffer.name,
                     value, extent.text(), code.values_in(code.nodes.back(), values));
    }
    check_parts(buffer, shape.size(), code, values);
    shape.push_back(value);
  }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return shape;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes) ||
        bytes > kMaxBytes) {
      throw error_at(buffer.where, ErrorCode::kInvalidInput,
                     "buffer {} of shape {} is larger than the limit of {}", buffer.name,
                     shape_text(shape), format_bytes(kMaxBytes));
    }
  }
  return shape;
}

std::uint64_t bytes_of(const std::vector<std::int64_t>& shape, DType dtype) {
  std::uint64_t bytes = size_of(dtype);
  for (const std::int64_t extent : shape) {
    if (extent == 0) return 0;
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

void check_memory(const BoundBuffer& buffer, DeviceAddress address, const Device& device) {
  if (buffer.bytes == 0) return;
  const std::string& name = buffer.definition->name;
  if (address % buffer.element_size() != 0) {
    throw error(ErrorCode::kInvalidInput,
                "the memory for {}: its address 0x{:x} is not a multiple of the {} bytes of an {}",
                name, address, buffer.element_size(), to_string(buffer.definition->dtype));
  }
  const ContextGuard guard(device);
  const driver::Driver& driver = device.driver();
  CUdeviceptr begin = 0;
  std::size_t bytes = 0;
  const CUresult result = driver.cuMemGetAddressRange(&begin, &bytes, address);
  if (result == CUDA_ERROR_NOT_FOUND || result == CUDA_ERROR_INVALID_VALUE) {
    throw error(ErrorCode::kInvalidInput,
                "the memory for {}: {} knows no memory at its address 0x{:x}", name, device.spec(),
                address);
  }
  driver::check(driver, result, "cuMemGetAddressRange");
  const std::uint64_t left = begin + bytes - address;
  if (buffer.bytes > left) {
    throw error(ErrorCode::kInvalidInput,
                "the memory for {}: {} of shape {} takes {} bytes, from 0x{:x} to the end of its "
                "allocation there are {}",
                name, to_string(buffer.definition->dtype), shape_text(buffer.shape), buffer.bytes,
                address, left);
  }
}

}  // namespace baton::bind
